import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { onSignedOut } from '@/api/client'
import { sessionQuery } from '@/api/session'
import { createCache } from './cache'
import { createAppRouter } from './router'
import { theme, variables } from './theme'

export function App() {
  const [{ cache, router }] = useState(() => {
    const cache = createCache()
    return { cache, router: createAppRouter(cache) }
  })
  useEffect(() => {
    onSignedOut(() => {
      cache.removeQueries({ queryKey: sessionQuery.queryKey })
      void router.invalidate()
    })
  }, [cache, router])
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={cache}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
