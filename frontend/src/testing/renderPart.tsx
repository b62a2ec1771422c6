import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from '@testing-library/react'
import type { ReactNode } from 'react'

/** A part of a page that asks the server by itself, without routes. */
export function renderPart(part: ReactNode) {
  return render(
    <MantineProvider env="test" withCssVariables={false}>
      <QueryClientProvider client={new QueryClient()}>{part}</QueryClientProvider>
    </MantineProvider>,
  )
}
