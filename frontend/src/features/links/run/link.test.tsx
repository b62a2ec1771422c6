import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { LinkCourse, LinkLog } from '@/api/types'
import { outline } from '@/charts/timeShapes'
import { serve } from '@/testing/network'
import { runId, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { eventRows, linkedText, lossRows } from './course'

it('the link of a run is drawn with its losses and their causes', async () => {
  serve()
  renderAt(`/runs/${runId('competing', 0)}?tab=link`)
  const panel = await screen.findByRole('region', { name: 'Link' })
  for (const title of ['Queue', 'Rate', 'Delay behind the hop', 'Losses, outages and gaps'])
    expect(await within(panel).findByRole('button', { name: `Show the numbers behind ${title}` })).toBeTruthy()
  const losses = screen.getByRole('region', { name: 'Lost packets' })
  expect(within(losses).getByRole('row', { name: /^1 to the receiver 30 0 Queue full 30$/ })).toBeTruthy()
  expect(screen.getByText(/seed \d+, which all runs of this cycle share/)).toBeTruthy()
  const phases = screen.getByRole('region', { name: 'By phase' })
  expect(within(phases).getByRole('row', { name: /^Longest one-way queueing, ms 100 100 100$/ })).toBeTruthy()
  expect(within(phases).getByRole('row', { name: /^Lost in outages, % of arrivals 0 0 0$/ })).toBeTruthy()
  await userEvent.click(within(panel).getByText('Back'))
  expect(await within(panel).findByText('Nothing was lost on this way, and nothing interrupted it.')).toBeTruthy()
})

it('a run without a log says which links keep one', async () => {
  serve()
  renderAt(`/runs/${runId('recorded', 0)}?tab=link`)
  expect(await screen.findByText('No log of the link')).toBeTruthy()
})

it('what is not known of a link is no zero', () => {
  expect([null, undefined, 0, 1500].map((value) => linkedText(value, { factor: 1e-3 }))).toEqual(['–', '–', '0', '1.5'])
})

it('rows are those in which something happened', () => {
  const { down, up } = said<LinkCourse>('competing-run-1-link').ways
  expect(eventRows(down).map(({ id }) => id)).toEqual(['outage-time', 'queue_full'])
  expect(eventRows(up)).toEqual([])
})

it('losses are added up by flow and way, congestion apart from all else, and thinned acknowledgements are none', () => {
  const lost: LinkLog['lost'] = [
    { flow: null, way: 'up', cause: 'outage', packets: 2 },
    { flow: 2, way: 'down', cause: 'early_drop', packets: 5 },
    { flow: 2, way: 'down', cause: 'queue_full', packets: 1000 },
    { flow: 2, way: 'down', cause: 'outage', packets: 7 },
    { flow: 1, way: 'up', cause: 'thinned', packets: 9 },
  ]
  expect(lossRows(lost)).toEqual([
    { flow: 1, way: 'up', congestion: 0, other: 0, causes: 'Acknowledgement thinned out 9' },
    { flow: 2, way: 'down', congestion: 1005, other: 7, causes: 'Random drop of a long queue 5 · Queue full 1,000 · Outage 7' },
    { flow: null, way: 'up', congestion: 0, other: 2, causes: 'Outage 2' },
  ])
})

it('a mark is at least a pixel and a half wide, and the last step ends with the log', () => {
  const toX = (x: number) => 10 * x
  expect(outline([0, 0.1, 2], 3, [0, 4, 0], toX, 1, 5)).toBe('M1 1H20V5H1Z')
  expect(outline([0, 1, 1.01], 3, [0, 1, 0], toX, 1, 5)).toBe('M10 1H11.5V5H10Z')
  expect(outline([0, 1], 3, [0, 1], toX, 1, 5)).toBe('M10 1H30V5H10Z')
})
