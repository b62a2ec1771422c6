import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { RunExits } from '@/api/types'
import { serve } from '@/testing/network'
import { runId, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const [PER_ACK, POLLED, RUNNING] = [runId('acks', 0), runId('recorded', 0), runId('running', 5)]

it('shows the curves, and every detector in words', async () => {
  serve()
  renderAt(`/runs/${PER_ACK}?tab=exits`)
  const figures = await screen.findAllByRole('figure')
  expect(figures).toHaveLength(6)
  await waitFor(() => expect(figures[1]?.querySelectorAll('.recharts-line-curve')).toHaveLength(2))
  const table = screen.getByRole('group', { name: 'Verdicts of all detectors' })
  const search = within(table)
    .getByRole('rowheader', { name: /SEARCH 3.1/ })
    .closest('tr')
  expect(search?.textContent).toContain('1.252')
  expect(search?.textContent).toContain('early')
})

it('a detector switched off loses its mark, and that stands in the address', async () => {
  serve()
  const { router } = renderAt(`/runs/${PER_ACK}?tab=exits`)
  const toggle = await screen.findByRole('button', { name: /^BEST/ })
  const flags = () => [...document.querySelectorAll('svg text')].map((text) => text.textContent)
  expect(flags()).toContain('B')
  await userEvent.click(toggle)
  await waitFor(() => expect(flags()).not.toContain('B'))
  expect(router.state.location.search).toHaveProperty('detectors')
})

it('the address restores the zoom', async () => {
  serve()
  renderAt(`/runs/${PER_ACK}?tab=exits&from_s=2&to_s=3`)
  const from = (await screen.findByLabelText('From, s')) as HTMLInputElement
  expect([from.value, (screen.getByLabelText('To, s') as HTMLInputElement).value]).toEqual(['2', '3'])
  await userEvent.click(screen.getByRole('radio', { name: 'Whole flow' }))
  await waitFor(() => expect((screen.getByLabelText('To, s') as HTMLInputElement).value).toBe('5'))
})

it('says when the link was full and by which rate, and explains the times of the paper', async () => {
  serve()
  renderAt(`/runs/${PER_ACK}?tab=exits`)
  expect(await screen.findByText(/1\.81 MB in flight, the link's emulated rate of 144 Mb\/s times the least RTT of 101 ms/)).toBeTruthy()
  expect(screen.getByText(/cg, the curve first says that the link is full/)).toBeTruthy()
})

it('a window that the flow itself never had is called modelled', async () => {
  serve()
  renderAt(`/runs/${POLLED}?tab=exits`)
  const table = await screen.findByRole('group', { name: 'Verdicts of all detectors' })
  const row = (name: RegExp) => within(table).getByRole('rowheader', { name }).closest('tr')?.textContent
  expect(row(/SEARCH 3.1/)).toContain('modelled')
  expect(row(/Observed exit/)).not.toContain('modelled')
})

it('Back undoes a change of the stretch shown, not a switched detector', async () => {
  serve()
  const { router } = renderAt(`/runs/${PER_ACK}?tab=exits&from_s=2&to_s=3`)
  await userEvent.click(await screen.findByRole('radio', { name: 'Whole flow' }))
  await userEvent.click(screen.getByRole('button', { name: /^BEST/ }))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ range: 'all' }))
  router.history.back()
  await waitFor(() => expect(router.state.location.search).toMatchObject({ from_s: 2, to_s: 3 }))
})

it('an imported file has no campaign file to change', async () => {
  const world = makeWorld()
  for (const run of Object.values(world.runs).flat())
    if (run.id === POLLED) run.import_source = { file: 'a.jsonl', source: 'tcp-info', sha256: '0', summaries: [] }
  serve(world)
  renderAt(`/runs/${POLLED}?tab=exits`)
  expect(await screen.findByText(/the imported file does not have them all/)).toBeTruthy()
  expect(screen.queryByText('sampling: per_ack')).toBeNull()
})

it('packet pairs tell rounds, medians and the ssthresh', async () => {
  serve()
  renderAt(`/runs/${PER_ACK}?tab=exits`)
  expect(await screen.findByText(/BEST would set ssthresh to 166 segments: 19 Mb\/s/)).toBeTruthy()
  const table = screen.getByRole('group', { name: 'Packet-pair estimates per round' })
  expect(within(table).getAllByRole('row')).toHaveLength(6)
})

it('polls: says which detectors cannot decide, why, and what to do', async () => {
  serve()
  renderAt(`/runs/${POLLED}?tab=exits`)
  expect(await screen.findByText(/every single ACK is needed/)).toBeTruthy()
  expect(screen.getAllByText('sampling: per_ack')).toHaveLength(2)
  expect(screen.queryByRole('button', { name: /^BEST/ })).toBeNull()
})

it('a trace that cannot be judged says so; a run under way says when', async () => {
  const exits = said<RunExits>('recorded-run-1-exits')
  for (const flow of exits.flows) flow.refusal = 'the sender has no rows after the first data byte'
  serve({ ...makeWorld(), instead: { [`/runs/${POLLED}/exits`]: exits } })
  const { unmount } = renderAt(`/runs/${POLLED}?tab=exits`)
  expect((await screen.findByText(/could not be judged/)).textContent).toContain('no rows after the first data byte')
  unmount()
  renderAt(`/runs/${RUNNING}?tab=exits`)
  expect(await screen.findByText(/once the run has ended/)).toBeTruthy()
})
