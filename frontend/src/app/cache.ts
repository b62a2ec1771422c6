import { QueryClient } from '@tanstack/react-query'
import { problemOf } from '@/api/problem'

const RETRIES = 2

/** Events keep data fresh (see LiveSync); polling is the fallback where a page asks for it. Only silence is worth a retry. */
export function createCache(retries = RETRIES): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        refetchOnWindowFocus: 'always',
        retry: (failures, error) => failures < retries && problemOf(error).code === 'server_unreachable',
      },
    },
  })
}
