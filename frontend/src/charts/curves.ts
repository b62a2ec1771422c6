/** A line over the chart's common x. `y` has the length of x, in API units; null where there is no value. */
export interface Curve {
  id: string
  label: string
  style: number
  y: readonly (number | null)[]
}

/** A named point of a chart, in the colour of a curve, in API units. */
export interface CurvePoint {
  id: string
  x: number
  y: number
  style: number
  text: string
}

/** One row of a chart: `y_i` for the i-th curve, in the shown unit. */
export type CurveRow = { x: number } & Record<`y_${number}`, number | null>

export function curveRows(x: readonly number[], curves: readonly Curve[], factor: number): CurveRow[] {
  return x.map((at, index) => {
    const row: CurveRow = { x: at }
    curves.forEach(({ y }, i) => {
      const value = y[index]
      row[`y_${i}`] = value == null ? null : value * factor
    })
    return row
  })
}

/** The least and the largest value within [from, to]; null without any. */
export function curveBounds(x: readonly number[], curves: readonly Curve[], from: number, to: number): [number, number] | null {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  x.forEach((at, index) => {
    if (at < from || at > to) return
    for (const { y } of curves) {
      const value = y[index]
      if (value == null) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  })
  return low <= high ? [low, high] : null
}

/** The value that holds at x: the one of the last point at or before it. */
export function valueAt(x: readonly number[], y: readonly (number | null)[], at: number): number | null {
  let [low, high] = [0, x.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((x[middle] ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low === 0 ? null : (y[low - 1] ?? null)
}

/**
 * Empirical distributions of times over a common x, in percent of each one's `total`: what never happened keeps a curve below 100.
 * The curves begin at 0 and go on to `to`.
 */
export function distributions(times: readonly { sorted: readonly number[]; total: number }[], to: number): { x: number[]; y: number[][] } {
  const inner = [...new Set(times.flatMap(({ sorted }) => sorted))].filter((at) => at > 0 && at < to).sort((a, b) => a - b)
  const x = [0, ...inner, to]
  const y = times.map(({ sorted, total }) => x.map((at) => (100 * sorted.filter((time) => time <= at).length) / total))
  return { x, y }
}
