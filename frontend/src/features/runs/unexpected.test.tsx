import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { Run, RunSummary } from '@/api/types'
import { serve } from '@/testing/network'
import { answerOf, IDS, runId } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const DETAIL = 'Goodput of flow 1, overall: 12.1 Mb/s, expected above 20.'
const UNEXPECTED: RunSummary['unexpected'] = [
  { expectation: 1, metric: 'overall.goodput_bps', flow: 1, value: 12_100_000, above: 20_000_000, below: null, detail: DETAIL },
]

it('the table of runs marks the one that lies outside, with the reason', async () => {
  const world = makeWorld()
  world.runs[IDS.recorded] = (world.runs[IDS.recorded] ?? []).map((run, at) => (at === 1 ? { ...run, unexpected: UNEXPECTED } : run))
  serve(world)
  renderAt(`/campaigns/${IDS.recorded}?tab=runs`)
  expect(await screen.findAllByText('outside its expected range')).toHaveLength(1)
  const row = screen.getByText(DETAIL).closest('tr') as HTMLElement
  expect(
    within(row)
      .getByRole('link', { name: /cycle 1/ })
      .getAttribute('href'),
  ).toContain(runId('recorded', 1))
})

it('its own page says so above its numbers, and its events when', async () => {
  const world = makeWorld()
  const id = runId('recorded', 1)
  const run = answerOf('recorded-run-1').body as Run
  const events = [...run.events, { at: '2026-11-26T04:00:00Z', kind: 'unexpected', detail: DETAIL }]
  world.instead[`/runs/${id}`] = { ...run, id, events, unexpected: UNEXPECTED }
  serve(world)
  renderAt(`/runs/${id}?tab=events`)
  const alert = await screen.findByText('Complete, but outside its expected range')
  expect(alert.closest('[role=alert]')?.textContent).toContain(DETAIL)
  expect(await screen.findByText('unexpected')).toBeTruthy()
})

it('a run inside says nothing of it', async () => {
  serve()
  renderAt(`/runs/${runId('recorded', 0)}`)
  expect(await screen.findByRole('heading', { name: 'HyStart on, cycle 1' })).toBeTruthy()
  expect(screen.queryByText(/expected range/)).toBeNull()
})
