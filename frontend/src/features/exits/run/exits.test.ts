import { expect, it } from 'vitest'
import type { FlowExits, Run, RunExits, Verdict } from '@/api/types'
import { figureCsv, figureSvg } from '@/charts/figure'
import { said } from '@/testing/recordings'
import {
  decadeCounts,
  decadeShare,
  flowMarks,
  flowWindows,
  judgedOf,
  padded,
  pairAxis,
  slowStartSpan,
  undecidable,
  upperMedian,
} from './exits'
import { pairsFigure } from './pairs'

const [perAck, polled] = ['acks-run-1-exits', 'recorded-run-1-exits'].map((name) => said<RunExits>(name).flows[0]) as [FlowExits, FlowExits]

const verdict = (detector: string, exit_us: number | null): Verdict => ({
  ...(perAck.verdicts[0] as Verdict),
  detector,
  exit_us,
})
const CAPACITY = { capacity_us: 2_500_000, capacity_basis: 'plateau', capacity_rate_bps: 1e6, least_rtt_us: 1000 } as const
const flowOf = (verdicts: Verdict[], times: FlowExits['times'], capacity: FlowExits['capacity'] = null): FlowExits => ({
  ...perAck,
  verdicts,
  times,
  capacity,
})
const TIMES = { cg_us: 2_000_000, ex_us: 3_000_000, dp_us: 5_000_000, hr_us: 2_000_000, is_success: true }

it("marks are the exits of the chosen detectors, with the capacity point and the paper's beside it", () => {
  const flow = flowOf([verdict('observed_exit', 3_000_000), verdict('best', 4_000_000), verdict('first_loss', null)], TIMES, CAPACITY)
  expect(flowMarks(flow, ['best', 'first_loss']).map(({ code, x }) => [code, x])).toEqual([
    ['C', 2.5],
    ['cg', 2],
    ['B', 4],
  ])
})

it('shaded are the window that ended at the exit and the headroom behind it', () => {
  const flow = flowOf([], TIMES)
  expect(flowWindows(flow).map(({ from, to, label }) => [label, Number(from.toFixed(2)), to])).toEqual([
    ['window at ex', 2.65, 3],
    ['hr', 3, 5],
  ])
  expect(flowWindows(flowOf([], { ...TIMES, dp_us: 2_900_000, hr_us: -100_000 }))).toHaveLength(1)
  expect(flowWindows({ ...flow, curves: null })).toEqual([])
})

it('slow start is shown to a tenth past its end; an exit after the loss does not stretch it', () => {
  expect(slowStartSpan(flowOf([verdict('search', 3_000_000)], TIMES))).toEqual({ from_s: 0, to_s: 5.5 })
  expect(slowStartSpan(flowOf([verdict('search', 28_000_000)], TIMES))).toEqual({ from_s: 0, to_s: 5.5 })
  expect(slowStartSpan(flowOf([verdict('search', 4_000_000)], null))).toEqual({ from_s: 0, to_s: 4.4 })
  expect(slowStartSpan(flowOf([verdict('search', null)], null))).toBeNull()
  const late = { ...CAPACITY, capacity_us: 29_000_000 }
  const left = { ...flowOf([verdict('observed_exit', 3_000_000)], null, late), stayed_in_slow_start: false }
  expect(slowStartSpan(left)).toEqual({ from_s: 0, to_s: 3.3 })
  expect(slowStartSpan({ ...left, stayed_in_slow_start: true })).toEqual({ from_s: 0, to_s: 31.9 })
})

it('a zoom asks for a little more than it shows, never for times before the start', () => {
  expect(padded({ from_s: 2, to_s: 3 }, 250_000)).toEqual({ from_s: 1.5, to_s: 3.5 })
  expect(padded({ from_s: 0.2, to_s: 3 }, 250_000).from_s).toBe(0)
})

it('detectors that cannot decide are named together with the reason', () => {
  const [[reason, names] = ['', []], ...others] = undecidable(judgedOf(polled))
  expect(reason).toContain('every single ACK is needed')
  expect(names).toHaveLength(12)
  expect(others).toEqual([])
  expect(undecidable(judgedOf(perAck)).size).toBe(0)
})

it("the pairs' axis has whole decades and all estimates but zeros", () => {
  const round = { round: 2, opened_us: 0, estimates_mbps: [0, 48, 51, 1800] }
  expect(pairAxis([round])).toEqual({ first: 1, last: 4 })
  expect(pairAxis([{ ...round, estimates_mbps: [100] }])).toEqual({ first: 2, last: 3 })
  expect(pairAxis([])).toEqual({ first: 0, last: 1 })
})

it('each decade has the same room; a zero is not counted, the largest value is', () => {
  const axis = { first: 0, last: 2 }
  expect([1, 10, 100].map((value) => decadeShare(value, axis))).toEqual([0, 0.5, 1])
  expect(decadeCounts([0, 1, 9, 11, 100], axis, 2)).toEqual([2, 2])
})

it('the median is the upper one of two, as in the module', () => {
  expect([upperMedian([3, 1, 2, 4]), upperMedian([5]), upperMedian([])]).toEqual([3, 5, null])
})

it('packet pairs are taken away as they are shown: bins of one axis, medians, and the zeros that have no bar', () => {
  const rounds = perAck.packet_pairs ?? []
  const figure = pairsFigure(said<Run>('acks-run-1'), 1, rounds, 'BEST would leave.')
  const { heads, rows } = figure.table
  const [round, from, to, count, zero] = ['Round', 'From (Mb/s)', 'To (Mb/s)', 'Estimates', 'Estimates of zero'].map((head) =>
    heads.indexOf(head),
  )
  for (const one of rounds) {
    const own = rows.filter((row) => row[round as number] === one.round)
    const counted = own.reduce((sum, row) => sum + Number(row[count as number]), 0)
    expect(counted).toBe(one.estimates_mbps.filter((mbps) => mbps > 0).length)
    expect(own[0]?.[zero as number]).toBe(one.estimates_mbps.length - counted)
    for (const row of own) {
      const within = one.estimates_mbps.filter((mbps) => mbps >= Number(row[from as number]) && mbps < Number(row[to as number]))
      expect(Math.abs(within.length - Number(row[count as number])), 'but for the ends of the axis').toBeLessThanOrEqual(1)
    }
  }
  expect(rounds.length).toBeGreaterThan(1)
  expect(figureCsv(figure).split('\r\n')).toHaveLength(rows.length + 2)
  const svg = figureSvg(figure, { width: 'double' })
  for (const one of rounds) expect(svg).toContain(`Round ${one.round}, opened at`)
})
