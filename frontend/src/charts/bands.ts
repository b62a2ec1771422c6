/** A mean with its interval and n at each x. Arrays have the length of `x`; null means that there is no value. */
export interface Band {
  mean: (number | null)[]
  low: (number | null)[]
  high: (number | null)[]
  n: number[]
  /** The runs behind the mean where they are few: they are drawn instead of an interval. */
  runs?: (number | null)[][] | undefined
}

export const hasRuns = ({ band }: BandSeries) => (band.runs?.length ?? 0) > 1

export interface BandSeries {
  id: string
  label: string
  /** Place in the palette; stays with a series when others are hidden. */
  style: number
  x: number[]
  band: Band
}

/** With few runs an interval is many times wider than the means; beyond this many times their maximum it is cut off. */
export const BAND_REACH = 1.35

/** The largest value that a chart of these series shows, between `from` and `to` (x inclusive). */
export function bandMaximum(series: readonly BandSeries[], from: number, to: number, withBands: boolean): number {
  let [mean, high] = [0, 0]
  for (const one of series) {
    const { x, band } = one
    const runs = withBands && hasRuns(one) ? (band.runs ?? []) : []
    x.forEach((at, index) => {
      if (at < from || at > to) return
      mean = Math.max(mean, band.mean[index] ?? 0, ...runs.map((run) => run[index] ?? 0))
      if (runs.length === 0) high = Math.max(high, band.high[index] ?? 0)
    })
  }
  return withBands ? Math.max(mean, Math.min(high, mean * BAND_REACH)) : mean
}

/** Whether an interval reaches beyond `top`, the end of its axis. */
export function isBandCut(series: readonly BandSeries[], from: number, to: number, top: number): boolean {
  const banded = series.filter((one) => !hasRuns(one))
  return banded.some(({ x, band }) => x.some((at, index) => at >= from && at <= to && (band.high[index] ?? 0) > top))
}

/** Indices whose neighbours are both missing: a line cannot show them, so they get a dot. */
export function isolatedIndices(values: readonly (number | null | undefined)[]): Set<number> {
  const isolated = new Set<number>()
  values.forEach((value, index) => {
    if (value != null && values[index - 1] == null && values[index + 1] == null) isolated.add(index)
  })
  return isolated
}

export interface ReadingAt {
  mean: number | null
  low: number | null
  high: number | null
  n: number
}

/** The values of a series at x, or null when the series has no such bin. */
export function readingAt(series: BandSeries, x: number): ReadingAt | null {
  const index = series.x.indexOf(x)
  if (index === -1) return null
  const { mean, low, high, n } = series.band
  return { mean: mean[index] ?? null, low: low[index] ?? null, high: high[index] ?? null, n: n[index] ?? 0 }
}
