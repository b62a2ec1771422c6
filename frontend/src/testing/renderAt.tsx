import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router'
import { render } from '@testing-library/react'
import { createCache } from '@/app/cache'
import { createAppRouter } from '@/app/router'
import { theme, variables } from '@/app/theme'

/** Draw the whole app at an address, over whatever `serve` stands behind the network. */
export function renderAt(address: string) {
  const cache = createCache(0)
  const history = createMemoryHistory({ initialEntries: [address] })
  const router = createAppRouter(cache, history)
  const screen = render(
    <MantineProvider theme={theme} cssVariablesResolver={variables} env="test" withCssVariables={false}>
      <QueryClientProvider client={cache}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { ...screen, cache, router }
}
