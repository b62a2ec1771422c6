import { MantineProvider } from '@mantine/core'
import { act, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LiveFlows } from './LiveFlows'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const show = (elapsed_s: number) => (
  <MantineProvider>
    <LiveFlows live={{ elapsed_s, bytes: 1_000_000, flows: [] }} />
  </MantineProvider>
)
const pass = (seconds: number) => act(() => vi.advanceTimersByTime(1000 * seconds))

it('a reader is not left with old numbers: after five seconds without a word the page says so, until it hears one', () => {
  const { rerender } = render(show(21))
  pass(5)
  expect(screen.queryByText(/No news/)).toBeNull()
  pass(2)
  expect(screen.getByText('No update for 7 s. Showing the last values received.')).toBeTruthy()
  rerender(show(29))
  expect(screen.queryByText(/No news/)).toBeNull()
  pass(4)
  expect(screen.queryByText(/No news/)).toBeNull()
})
