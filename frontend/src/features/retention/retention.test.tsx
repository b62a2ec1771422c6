import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { CampaignData, DataPart, Retention, Service } from '@/api/types'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'
import { goesText } from './words'

const AT = `/campaigns/${IDS.acks}?tab=storage`
const PATH = `/campaigns/${IDS.acks}/retention`
const SIZE = { traces_bytes: 16_000_000, traces_runs: 2, unsized_parts: 0, series_bytes: 180_000, series_runs: 2 }
const KEPT: Retention = {
  campaign_id: IDS.acks,
  is_pinned: false,
  traces_days: 90,
  series_days: 730,
  all_days: null,
  size: SIZE,
  parts: [
    { part: 'traces', runs: 2, bytes: 16_000_000, due_at: '2026-04-02T03:03:04Z' },
    { part: 'series', runs: 2, bytes: 16_180_000, due_at: '2028-01-02T03:03:04Z' },
    { part: 'all', runs: 2, bytes: 16_180_000, due_at: null },
  ],
  going: null,
  ordered_by: null,
  removed: { traces_runs: 0, traces_at: null, series_runs: 0, series_at: null },
}
const DATA: CampaignData = {
  campaign_id: IDS.acks,
  name: 'Every ACK',
  state: 'complete',
  owner_id: null,
  ended_at: '2026-01-02T03:03:04Z',
  is_pinned: false,
  size: SIZE,
  next: { part: 'traces', runs: 2, bytes: 16_000_000, due_at: '2026-04-02T03:03:04Z' },
  going: null,
}

function serveKept(retention: Retention = KEPT) {
  const world = makeWorld()
  world.instead[PATH] = retention
  serve(world)
}

it('the tab says what would go with each part, how much it is, and when', async () => {
  serveKept()
  renderAt(AT)
  const table = within(await screen.findByRole('group', { name: 'What would go' }))
  expect(table.getByRole('rowheader', { name: /^Raw traces Every sample/ })).toBeTruthy()
  expect(table.getByText('2 Apr 2026, 03:03:04 UTC')).toBeTruthy()
  expect(table.getByText('never')).toBeTruthy()
  const days = screen.getByLabelText('Raw traces') as HTMLInputElement
  expect(days.value).toBe('90 days')
})

it('a part goes with the one that takes it along, or a while after an end that has not come', () => {
  const [traces, series, all] = KEPT.parts as [DataPart, DataPart, DataPart]
  const withAll = {
    ...KEPT,
    parts: [
      { ...traces, due_at: null },
      { ...series, due_at: null },
      { ...all, due_at: '2026-05-01T00:00:00Z' },
    ],
  }
  expect(withAll.parts.map((part) => goesText(withAll, part))).toEqual(Array(3).fill('1 May 2026, 00:00:00 UTC'))
  const running = { ...KEPT, parts: KEPT.parts.map((part) => ({ ...part, due_at: null })) }
  const said = (found: Retention) => found.parts.map((part) => goesText(found, part))
  expect(said(running)).toEqual(['90 days after its end', '730 days after its end', 'never'])
  expect(said({ ...running, is_pinned: true })).toEqual(['never', 'never', 'never'])
})

it('before something is removed its size and what follows are said', async () => {
  serveKept()
  renderAt(AT)
  await userEvent.click(await screen.findByRole('button', { name: 'Remove now: Raw traces' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(dialog.getByText(/cannot be recomputed.*This cannot be undone/)).toBeTruthy()
})

it('where raw traces are gone the tab says that numbers cannot be computed again', async () => {
  const removed = { traces_runs: 2, traces_at: '2026-01-03T00:00:00Z', series_runs: 0, series_at: null }
  serveKept({ ...KEPT, removed, is_pinned: true })
  renderAt(AT)
  expect(await screen.findByText(/raw traces of 2 runs were removed .* cannot be computed again/)).toBeTruthy()
  expect(screen.getByText('Pinned: nothing of this campaign is removed.')).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Remove now/ })).toBeNull()
})

it('the page lists campaigns with what takes room and what goes next', async () => {
  const world = makeWorld()
  const pinned = { ...DATA, campaign_id: IDS.recorded, name: 'Demo', is_pinned: true, next: null }
  const total = { total: 2, traces_bytes: 32_000_000, series_bytes: 360_000, database_bytes: 90_000_000 }
  world.instead['/retention'] = { items: [DATA, pinned], ...total }
  serve(world)
  renderAt('/storage')
  const table = within(await screen.findByRole('group', { name: 'Campaigns' }))
  expect(table.getByText('nothing: pinned')).toBeTruthy()
  expect(table.getByText(/^Raw traces, .*2026/)).toBeTruthy()
})

it('a server without room says so above each page', async () => {
  const world = makeWorld()
  const reason = '4 MiB are free at /srv, and 1024 are to stay free'
  world.instead['/service'] = { ...said<Service>('service'), room: { ...said<Service>('service').room, reason } }
  serve(world)
  renderAt('/campaigns')
  expect(await screen.findByText(/accepts no samples and no imports: 4 MiB are free/)).toBeTruthy()
})

it('downloads say how large an archive becomes', async () => {
  serveKept()
  renderAt(`/campaigns/${IDS.acks}?tab=downloads`)
  expect(await screen.findByText('16.0 MB of samples, and the tables')).toBeTruthy()
})
