import type { CampaignDelays, PooledDelay } from '@/api/types'
import type { Curve } from '@/charts/curves'
import { roundStep } from '@/charts/ticks'
import type { LabelledGroup } from './series'

export type DelayKind = 'one_way_delay' | 'in_order_delay' | 'jitter'

export interface DelayWords {
  title: string
  /** What each value is of. */
  counted: string
  /** Over their number in a table. */
  head: string
  /** What the values are, on an axis and in a caption. */
  axis: string
  /** How one value comes about. */
  definition: string
}

export const DELAY_WORDS: Record<DelayKind, DelayWords> = {
  one_way_delay: {
    title: 'One-way delay of blocks',
    counted: 'blocks',
    head: 'Blocks',
    axis: 'One-way delay, until all of a block had arrived',
    definition: 'From when a block left the sender first, or a message was offered, until all of it had arrived.',
  },
  in_order_delay: {
    title: 'One-way delay of blocks',
    counted: 'blocks',
    head: 'Blocks',
    axis: 'One-way delay, until a block was there in order',
    definition:
      'From when a block left the sender first, or a message was offered, until it was there in order, as a program waits for it.',
  },
  jitter: {
    title: 'Jitter',
    counted: 'pairs of seconds',
    head: 'Pairs',
    axis: 'Jitter, change of the mean one-way delay from second to second',
    definition: 'Of two seconds in a row, by how much the mean one-way delay of the blocks that began in them changed, without its sign.',
  },
}

/** A condition's pooled values, with the label and the colour that it has on the page. */
export interface DelayRow {
  label: string
  style: number
  runs: number
  delay: PooledDelay
}

/** Those of the groups that the page shows; none where no run of the campaign kept a delivery table. */
export function delayRows(found: Pick<CampaignDelays, 'groups'>, groups: readonly LabelledGroup[], kind: DelayKind): DelayRow[] {
  return groups.flatMap(({ label, style, group }) => {
    const own = found.groups.find(
      (one) => one.link === group.link && one.condition === group.condition && one.flow === group.flow && one.cc === group.cc,
    )
    const delay = own?.delays.find((one) => one.kind === kind)
    return own && delay ? [{ label, style, runs: own.runs, delay }] : []
  })
}

/** What is drawn ends where all conditions have this share of their values: the last ones may be far out. */
export const DRAWN_SHARE = 0.99

/** Cumulative shares in percent over a common x; a step at each quantile that is known. */
export function delayCurves(
  rows: readonly DelayRow[],
  shares: readonly number[],
): { from: number; to: number; x: number[]; curves: Curve[] } {
  const drawn = rows.filter(({ delay }) => delay.quantiles_ms.length > 0)
  const [from, to] = delaySpan(drawn, shares)
  const values = drawn.flatMap(({ delay }) => delay.quantiles_ms).filter((value) => value > from && value < to)
  const x = [from, ...[...new Set(values)].sort((a, b) => a - b), to]
  const curves = drawn.map(({ label, style, delay }) => {
    let reached = 0
    const y = x.map((at) => {
      while (reached < shares.length && (delay.quantiles_ms[reached] ?? Number.POSITIVE_INFINITY) <= at) reached += 1
      return reached === 0 ? 0 : 100 * (shares[reached - 1] ?? 0)
    })
    return { id: label, label, style, y }
  })
  return { from, to, x, curves }
}

/** Round numbers around what is drawn; from zero where it comes near it. */
function delaySpan(drawn: readonly DelayRow[], shares: readonly number[]): [number, number] {
  const last = shares.findIndex((share) => share >= DRAWN_SHARE - 1e-9)
  const least = Math.min(...drawn.map(({ delay }) => delay.quantiles_ms[0] ?? 0))
  const most = Math.max(...drawn.map(({ delay }) => delay.quantiles_ms[last] ?? 0))
  if (!Number.isFinite(least) || !Number.isFinite(most)) return [0, 1]
  const low = least < 0.4 * most ? 0 : least
  const step = roundStep(most > low ? most - low : most || 1, 5)
  const multiple = (count: number) => Number((count * step).toPrecision(12))
  const [first, end] = [Math.floor(low / step + 1e-9), Math.ceil(most / step - 1e-9)]
  return [multiple(first), multiple(end > first ? end : first + 1)]
}

/** Why runs are not in it: each reason once for all conditions, with its runs. */
export function leftOut(rows: readonly DelayRow[]): { sentence: string; runs: number }[] {
  const found = new Map<string, number>()
  for (const { delay } of rows) for (const { sentence, runs } of delay.left_out) found.set(sentence, (found.get(sentence) ?? 0) + runs)
  return [...found].map(([sentence, runs]) => ({ sentence, runs }))
}
