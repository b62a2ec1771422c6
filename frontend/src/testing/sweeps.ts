import type { ShareEstimate, Sweep, SweepCell, SweptDetector } from '@/api/types'
import { IDS } from './examples.ts'

/** What the stand-in server can sweep. */
export const SWEPT: SweptDetector[] = [
  {
    detector: 'search',
    version: '3.1',
    parameters: [
      { name: 'window_factor', default: 3.5, low: 0.5, high: 10, unit: 'first RTTs', meaning: 'length of the sliding window' },
      { name: 'threshold_percent', default: 35, low: 1, high: 100, unit: '%', meaning: 'norm from which it exits' },
      { name: 'bins', default: 10, low: 2, high: 20, unit: '', meaning: 'bins in a window' },
    ],
  },
  {
    detector: 'hystart',
    version: '6.x',
    parameters: [{ name: 'delay_high_us', default: 16000, low: 1000, high: 64000, unit: 'us', meaning: 'most that the RTT may rise' }],
  },
]

const TRACES = 6
const around = (value: number): ShareEstimate => ({ value, low: Math.max(0, value - 0.3), high: Math.min(1, value + 0.25), n: TRACES })

/** The longer the window and the higher the threshold, the later the exit. */
function makeCell(parameters: Record<string, number>): SweepCell {
  const lateness = (parameters.window_factor ?? 3.5) / 3.5 + (parameters.threshold_percent ?? 35) / 35 - 2
  const late = Math.min(TRACES, Math.max(0, Math.round(TRACES * (lateness - 0.2))))
  const early = Math.min(TRACES - late, Math.max(0, Math.round(TRACES * (-lateness - 0.1))))
  const good = TRACES - late - early
  const share = (count: number) => around(count / TRACES)
  return {
    parameters,
    n: TRACES,
    shares: { early: share(early), good: share(good), late: share(late), open: share(0) },
    headroom_s: good > 0 ? Math.max(0.05, 0.9 - 0.7 * lateness) : null,
  }
}

/** Every combination, the last parameter running fastest. */
function combinations(grid: Sweep['grid']): Record<string, number>[] {
  let sets: Record<string, number>[] = [{}]
  for (const [name, values] of Object.entries(grid)) sets = sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value })))
  return sets
}

export function makeSweep(id: string, campaign_id: string, asked: Pick<Sweep, 'detector' | 'version' | 'grid'>): Sweep {
  return {
    ...asked,
    id,
    campaign_id,
    state: 'queued',
    reason: null,
    done: 0,
    total: TRACES,
    created_at: '2026-01-02T03:15:00.000Z',
    ended_at: null,
    cells: null,
  }
}

/** The sweep a moment later. */
export function advance(sweep: Sweep): Sweep {
  if (sweep.state !== 'queued' && sweep.state !== 'running') return sweep
  const done = Math.min(sweep.total, sweep.done + 2)
  if (done < sweep.total) return { ...sweep, state: 'running', done }
  return { ...sweep, state: 'complete', done, ended_at: '2026-01-02T03:15:09.000Z', cells: combinations(sweep.grid).map(makeCell) }
}

/** One of each: complete, failed. */
export function makeSweeps(): Sweep[] {
  const grid = { window_factor: [2.5, 3, 3.5, 4, 5], threshold_percent: [20, 25, 30, 35, 40, 50], bins: [10, 20] }
  const asked = makeSweep('01890a5d-ac96-774b-a000-000000000001', IDS.recorded, { detector: 'search', version: '3.1', grid })
  const failed = makeSweep('01890a5d-ac96-774b-a000-000000000002', IDS.recorded, { ...asked, grid: { bins: [10, 12] } })
  const reason = 'A trace failed 5 times; the worker’s log says why.'
  return [advance({ ...asked, done: TRACES - 1 }), { ...failed, state: 'failed', reason, done: 2, ended_at: '2026-01-02T03:16:00.000Z' }]
}
