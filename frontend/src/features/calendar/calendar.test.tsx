import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { Calendar } from '@/api/types'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('every campaign has its strip under each of its links, with what it carried', async () => {
  serve()
  renderAt('/calendar?from=2025-12-29')
  const link = await screen.findByRole('region', { name: 'geo-viasat' })
  expect(within(link).getByText(/3\.64 GB carried in these days. The link has no allowance/)).toBeTruthy()
  expect(within(link).getAllByRole('listitem')).toHaveLength(3)
  const name = within(link).getByRole('link', { name: 'HyStart on and off, now' })
  expect(name.getAttribute('href')).toBe(`/campaigns/${IDS.running}?tab=day`)
  expect(within(link).getByText(/^7 runs: 4 complete, 1 failed, 1 planned, 1 running · 1\.40 GB$/)).toBeTruthy()
  expect(within(link).getByRole('link', { name: /^HyStart on and off, now, 2026-01-02: 4 complete/ })).toBeTruthy()
  expect(screen.getByText('29 Dec 2025 to 4 Jan 2026')).toBeTruthy()
  const idle = screen.getByRole('region', { name: 'roof' })
  expect(idle.textContent).toContain('No runs in these days.')
})

it('days are chosen in the address, and Back returns to those before', async () => {
  serve()
  const { router } = renderAt('/calendar?from=2025-12-29')
  await userEvent.click(await screen.findByRole('link', { name: 'Later →' }))
  await waitFor(() => expect(router.state.location.search).toEqual({ from: '2026-01-05' }))
  await userEvent.click(screen.getByRole('link', { name: 'Now' }))
  await waitFor(() => expect(router.state.location.search).toEqual({}))
  router.history.back()
  await waitFor(() => expect(router.state.location.search).toEqual({ from: '2026-01-05' }))
})

it('days without runs say where the nearest ones are', async () => {
  const empty: Calendar = { ...said<Calendar>('calendar'), total: 0, links: [] }
  serve({ ...makeWorld(), instead: { '/calendar': empty } })
  renderAt('/calendar?days=7')
  expect(await screen.findByText('No runs in these days')).toBeTruthy()
  const before = screen.getByRole('link', { name: 'To the last run before, 14 Nov 2023' })
  expect(before.getAttribute('href')).toContain('from=2023-11-14')
})

it('an installation without runs says how to get some', async () => {
  const none: Calendar = { ...said<Calendar>('calendar'), total: 0, links: [], before_at: null, after_at: null }
  serve({ ...makeWorld(), instead: { '/calendar': none } })
  renderAt('/calendar')
  expect(await screen.findByText('No runs yet')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Make a campaign' })).toBeTruthy()
})
