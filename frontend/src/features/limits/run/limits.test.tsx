import { fireEvent, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { Run } from '@/api/types'
import { serve } from '@/testing/network'
import { runId, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('shows what held the flow, over all and at the cursor', async () => {
  serve()
  renderAt(`/runs/${runId('recorded', 1)}?tab=limits`)
  expect(await screen.findByText(/^Limited by the congestion window for 76 % of its time\.$/)).toBeTruthy()
  expect(screen.getByText('Whole flow')).toBeTruthy()
  fireEvent.change(screen.getByRole('slider', { name: 'Cursor' }), { target: { value: '20' } })
  expect(screen.getByText('At 20 s')).toBeTruthy()
  expect(screen.getByText('Application').textContent).toBe('Application 0 %')
})

it('a trace of every ACK does not tell, and why', async () => {
  serve()
  renderAt(`/runs/${runId('acks', 0)}?tab=limits`)
  expect(await screen.findByText(/^Recording every ACK omits the counters/)).toBeTruthy()
})

it('a run without a trace says so', async () => {
  serve()
  renderAt(`/runs/${runId('running', 2)}?tab=limits`)
  expect(await screen.findByText('No flow has been judged')).toBeTruthy()
})

it.each([
  ['limits', 'The kernel counts what limits a flow for TCP alone.'],
  ['exits', 'INTCP and probes have no slow start. What INTCP did is on the tab Hops.'],
])('a run without TCP has no %s, and says why', async (tab, reason) => {
  const run = said<Run>('relayed-run')
  const world = makeWorld()
  world.instead[`/runs/${run.id}`] = { ...run, flows: run.flows.map((flow) => ({ ...flow, asked_cc: 'intcp' })) }
  world.instead[`/runs/${run.id}/${tab}`] = { run_id: run.id, flows: [] }
  serve(world)
  renderAt(`/runs/${run.id}?tab=${tab}`)
  expect(await screen.findByText('No flow of this run is TCP')).toBeTruthy()
  expect(screen.getByText(reason)).toBeTruthy()
})
