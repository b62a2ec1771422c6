import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { runId } from '@/testing/examples'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'

const [PER_ACK, POLLED, REFUSED, RUNNING] = [0, 1, 4, 5].map(runId)

it('shows the curves, and every detector in words', async () => {
  serve()
  renderAt(`/runs/${PER_ACK}?tab=exits`)
  expect(await screen.findByText('0.75 s')).toBeTruthy()
  const figures = screen.getAllByRole('figure')
  expect(figures).toHaveLength(6)
  await waitFor(() => expect(figures[1]?.querySelectorAll('.recharts-line-curve')).toHaveLength(2))
  const table = screen.getByRole('group', { name: 'Verdicts of all detectors' })
  const search = within(table)
    .getByRole('rowheader', { name: /SEARCH 3.1/ })
    .closest('tr')
  expect(search?.textContent).toContain('8.610')
  expect(search?.textContent).toContain('good')
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
  await waitFor(() => expect((screen.getByLabelText('To, s') as HTMLInputElement).value).toBe('12'))
})

it('packet pairs tell rounds, medians and the ssthresh', async () => {
  serve()
  renderAt(`/runs/${PER_ACK}?tab=exits`)
  expect(await screen.findByText(/BEST would set ssthresh to 7,352 segments: 141 Mb\/s/)).toBeTruthy()
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
  serve()
  const { unmount } = renderAt(`/runs/${REFUSED}?tab=exits`)
  expect((await screen.findByText(/could not be judged/)).textContent).toContain('no rows after the first data byte')
  unmount()
  renderAt(`/runs/${RUNNING}?tab=exits`)
  expect(await screen.findByText(/once the run has ended/)).toBeTruthy()
})
