import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { FlowHops, HopCourse, LinkCourse, Run, RunHops } from '@/api/types'
import { PAPER } from '@/charts/plot'
import { serve } from '@/testing/network'
import { runId, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'
import { hopsFigure, pathFigure, pathMarks } from './figures'
import { changesOf, curvesOf, hopTitle, mostOf, nodesText, sentShares, shownOf } from './hops'

const run = said<Run>('relayed-run')
const flow = said<RunHops>('relayed-run-hops').flows[0] as FlowHops
const [first] = flow.hops as [HopCourse]

it('the hops of a run are drawn one by one, and what is drawn is in the address', async () => {
  serve()
  const { router } = renderAt(`/runs/${run.id}?tab=hops`)
  const courses = await screen.findByRole('region', { name: 'Each hop over time' })
  for (const title of ['Hop 1: far-server → near', 'Hop 2: near → far', 'Hop 3: far → far-client'])
    expect(within(courses).getByRole('button', { name: `Show the numbers behind ${title}` })).toBeTruthy()
  const bytes = screen.getByRole('region', { name: 'Bytes over each hop' })
  expect(within(bytes).getByRole('row', { name: /^Hop 1: far-server → near 50.0 MB 5 5.00 MB –$/ })).toBeTruthy()
  expect(within(bytes).getByRole('link', { name: 'Every step of every hop as CSV' }).getAttribute('href')).toBe(
    `/api/v1/runs/${run.id}/hops.csv`,
  )
  await userEvent.click(within(courses).getByText('Losses'))
  expect(router.state.location.search).toMatchObject({ tab: 'hops', shown: 'losses' })
  await userEvent.click(within(courses).getByRole('button', { name: 'Show the numbers behind Hop 2: near → far' }))
  expect(within(courses).getByText('Hop 2: near → far, packets')).toBeTruthy()
})

const course = {
  run_id: run.id,
  time_s: [0, 1, 2, 3],
  end_s: 4,
  path_changes_s: [1, 3],
  ways: { down: { delay_ms: [108, 112, 112, 109] }, up: { delay_ms: [] } },
  phases: {},
  flows: [],
} as unknown as LinkCourse
const log = said<Run>('relayed-run').link_log
const overSatellites = { ...run, link_log: { ...log, path: { name: 'beijing-new-york', sha256: 'c0ffee', at_us: 0 } } } as Run

it('the hops of a path are below the path’s own delay and changes, over the same seconds', async () => {
  const world = makeWorld()
  world.instead[`/runs/${run.id}`] = overSatellites
  world.instead[`/runs/${run.id}/link`] = course
  serve(world)
  renderAt(`/runs/${run.id}?tab=hops`)
  const courses = await screen.findByRole('region', { name: 'Each hop over time' })
  expect(await within(courses).findByText('beijing-new-york, without queues; 2 changes of path, each a dashed line.')).toBeTruthy()
  const shown = within(courses).getAllByRole('button', { name: /^Show the numbers behind/ })
  expect(shown[0]?.getAttribute('aria-label')).toBe('Show the numbers behind One-way delay of the path')
  await userEvent.click(shown[0] as HTMLElement)
  expect(within(courses).getByText('One-way delay of the path, ms')).toBeTruthy()
})

it('the strip of a path is near its delay, has a line for each change, and ends where the hops end', () => {
  const figure = pathFigure(overSatellites, course, 4)
  const [panel] = figure.columns[0]?.panels ?? []
  const shapes = panel?.shapes(400, 120, PAPER) ?? []
  const texts = shapes.flatMap((shape) => (shape.is === 'text' ? [shape.text] : []))
  expect(texts).toContain('108')
  expect(texts).not.toContain('0 ms')
  expect(pathMarks(course).map(({ x }) => x)).toEqual([1, 3])
  expect(figure.table.rows[1]).toEqual([1, 112])
})

it('a run of TCP says which flows have hops', async () => {
  serve()
  renderAt(`/runs/${runId('recorded', 0)}?tab=hops`)
  expect(await screen.findByText('No flow of this run uses relays')).toBeTruthy()
})

it('charts have one scale, and only what was recorded can be chosen', () => {
  expect(shownOf(flow)).toEqual(['rate', 'waiting', 'losses'])
  expect(mostOf(flow, 'rate')).toBe(80e6)
  expect(curvesOf(first, 'delay')).toEqual([])
})

it('a hop is named by who is at its ends, as far as they have names', () => {
  const named = (place: number | null, begins_at: string | null, ends_at: string | null) =>
    hopTitle({ ...first, place, begins_at, ends_at })
  expect(named(1, 'server', null)).toBe('Hop 1: from server')
  expect(named(7, null, null)).toBe('Hop 7')
  expect(named(null, null, 'client')).toBe('Last hop: to client')
})

it('satellites are named in their order, and their changes are marked', () => {
  const hop = { ...first, nodes: [null, 12, 12, null, 12, 20, 12, -2, 31, 32, 33] }
  const time_s = hop.nodes.map((_, step) => step)
  expect(changesOf(hop, time_s)).toEqual([
    { at_s: 5, node: 20 },
    { at_s: 6, node: 12 },
    { at_s: 7, node: -2 },
    { at_s: 8, node: 31 },
    { at_s: 9, node: 32 },
    { at_s: 10, node: 33 },
  ])
  expect(nodesText(hop)).toBe('Satellites 12, 20, 31, 32 and 1 more')
  expect(nodesText(first)).toBeNull()
})

it('bars are shares of the hop that carried most, what was sent again apart', () => {
  const of = (sent_bytes: number | null, repaired_bytes: number | null): HopCourse => ({
    ...first,
    totals: { ...first.totals, sent_bytes, repaired_bytes },
  })
  const hops = [of(100, 20), of(50, null), of(null, null)]
  expect(hops.map((hop) => sentShares(hop, hops))).toEqual([[0.8, 0.2], [0.5, 0], null])
})

it('all hops make one figure with their numbers', () => {
  const figure = hopsFigure(run, flow, 'rate')
  expect(figure.columns[0]?.panels.map(({ title }) => title)).toEqual([
    'Hop 1: far-server → near (Mb/s)',
    'Hop 2: near → far (Mb/s)',
    'Hop 3: far → far-client (Mb/s)',
  ])
  expect(figure.table.heads[1]).toBe('Hop 1: far-server → near: Asked for (Mb/s)')
  expect(figure.table.rows[0]?.slice(0, 3)).toEqual([0, 80, 80])
})
