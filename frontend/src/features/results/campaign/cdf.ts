import type { Curve } from '@/charts/curves'
import { roundStep } from '@/charts/ticks'

/** A condition's distribution, with the label and the colour that it has on the page. quantiles: at common shares; empty for none. */
export interface CdfRow {
  label: string
  style: number
  quantiles: readonly number[]
}

/** What is drawn ends where all conditions have this share of their values: the last ones may be far out. */
export const DRAWN_SHARE = 0.99

/** Cumulative shares in percent over a common x; a step at each quantile that is known. */
export function cdfCurves(rows: readonly CdfRow[], shares: readonly number[]): { from: number; to: number; x: number[]; curves: Curve[] } {
  const drawn = rows.filter(({ quantiles }) => quantiles.length > 0)
  const [from, to] = cdfSpan(drawn, shares)
  const values = drawn.flatMap(({ quantiles }) => quantiles).filter((value) => value > from && value < to)
  const x = [from, ...[...new Set(values)].sort((a, b) => a - b), to]
  const curves = drawn.map(({ label, style, quantiles }) => {
    let reached = 0
    const y = x.map((at) => {
      while (reached < shares.length && (quantiles[reached] ?? Number.POSITIVE_INFINITY) <= at) reached += 1
      return reached === 0 ? 0 : 100 * (shares[reached - 1] ?? 0)
    })
    return { id: label, label, style, y }
  })
  return { from, to, x, curves }
}

/** Round numbers around what is drawn; from zero where it comes near it. */
function cdfSpan(drawn: readonly CdfRow[], shares: readonly number[]): [number, number] {
  const last = shares.findIndex((share) => share >= DRAWN_SHARE - 1e-9)
  const least = Math.min(...drawn.map(({ quantiles }) => quantiles[0] ?? 0))
  const most = Math.max(...drawn.map(({ quantiles }) => quantiles[last] ?? 0))
  if (!Number.isFinite(least) || !Number.isFinite(most)) return [0, 1]
  const low = least < 0.4 * most ? 0 : least
  const step = roundStep(most > low ? most - low : most || 1, 5)
  const multiple = (count: number) => Number((count * step).toPrecision(12))
  const [first, end] = [Math.floor(low / step + 1e-9), Math.ceil(most / step - 1e-9)]
  return [multiple(first), multiple(end > first ? end : first + 1)]
}
