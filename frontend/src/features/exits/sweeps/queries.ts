import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

/** The newest ones; a campaign has few. */
const LIMIT = 20
const FALLBACK_POLL_MS = 5_000
const LIST = `${API}/campaigns/{campaign_id}/sweeps` as const

/** Live events refresh these; the slow poll is for the case that no stream gets through. */
export const useSweeps = (campaign_id: string) =>
  api.useQuery(
    'get',
    LIST,
    { params: { path: { campaign_id }, query: { limit: LIMIT } } },
    {
      refetchInterval: (query) =>
        query.state.data?.items.some(({ state }) => state === 'queued' || state === 'running') ? FALLBACK_POLL_MS : false,
    },
  )

/** Does not change while the server runs. */
export const useSweepParameters = (isWanted: boolean) =>
  api.useQuery('get', `${API}/sweeps/parameters`, {}, { enabled: isWanted, staleTime: Number.POSITIVE_INFINITY })

function useRefreshing() {
  const cache = useQueryClient()
  return { onSuccess: () => cache.invalidateQueries({ queryKey: ['get', LIST] }) }
}

export const useCreateSweep = () => api.useMutation('post', LIST, useRefreshing())
export const useDeleteSweep = () => api.useMutation('delete', `${API}/sweeps/{sweep_id}`, useRefreshing())
