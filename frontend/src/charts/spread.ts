import type { Curve } from './curves'
import { roundStep } from './ticks'

/** One run's value, in the shown unit. */
export interface Dot {
  value: number
  /** The value is only how far it was watched: what was asked for came later, or never. */
  isOpen: boolean
}

/** The values of the runs of a condition. */
export interface SpreadRow {
  id: string
  label: string
  style: number
  dots: readonly Dot[]
}

/** Fewer values than these say more one by one than by their quarters. */
export const LEAST_FOR_BOX = 5

export interface Box {
  low: number
  first: number
  median: number
  third: number
  high: number
}

/** The value below which this share of the sorted values lies, with straight lines between them (Hyndman and Fan's type 7). */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share
  const [below, above] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN]
  return below + (above - below) * (place - Math.floor(place))
}

/** Median, quarters, and whiskers to the last values within 1.5 of their distance (Tukey); null for few runs, or where some are open. */
export function boxOf(dots: readonly Dot[]): Box | null {
  if (dots.length < LEAST_FOR_BOX || dots.some(({ isOpen }) => isOpen)) return null
  const sorted = dots.map(({ value }) => value).sort((a, b) => a - b)
  const [first, median, third] = [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)]
  const reach = 1.5 * (third - first)
  const inside = sorted.filter((value) => value >= first - reach && value <= third + reach)
  return { low: inside[0] ?? first, first, median, third, high: inside.at(-1) ?? third }
}

/** An axis between round numbers around all values; from zero where they come near it. */
export function spreadSpan(rows: readonly SpreadRow[]): [from: number, to: number] {
  const values = rows.flatMap(({ dots }) => dots.map(({ value }) => value))
  if (values.length === 0) return [0, 1]
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const low = least >= 0 && least < 0.4 * most ? 0 : least
  const step = roundStep(most > low ? most - low : Math.abs(most) || 1, 5)
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(most / step - 1e-9)]
  const multiple = (count: number) => Number((count * step).toPrecision(12))
  if (last > first) return [multiple(first), multiple(last)]
  return [multiple(least >= 0 ? Math.max(0, first - 1) : first - 1), multiple(last + 1)]
}

/** Cumulative shares of the runs in percent over a common x: a step at each value; runs that are open never come. */
export function cumulative(rows: readonly SpreadRow[], from: number, to: number): { x: number[]; curves: Curve[] } {
  const known = rows.map(({ dots }) => dots.filter(({ isOpen }) => !isOpen).map(({ value }) => value))
  const inner = [...new Set(known.flat())].filter((value) => value > from && value < to)
  const x = [from, ...inner.sort((a, b) => a - b), to]
  const curves = rows.map(({ id, label, style, dots }, index) => ({
    id,
    label: `${label} (n = ${dots.length})`,
    style,
    y: x.map((at) => (dots.length > 0 ? (100 * (known[index] ?? []).filter((value) => value <= at).length) / dots.length : null)),
  }))
  return { x, curves }
}
