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
  /** Whether x has no common step, as sizes have: neighbours are joined, however far apart they are. */
  isUneven?: boolean | undefined
  band: Band
}

/** One row of a chart: `mean_i`, `band_i` and `run_i_k` for the i-th series and its k-th run. */
export type ChartRow = { x: number } & Record<`mean_${number}` | `run_${number}_${number}`, number | null> &
  Record<`band_${number}`, [number, number] | null>

/** Every x from the smallest to the largest in steps of `step`, so that an absent bin is a gap and not a bridge. */
function fullAxis(series: readonly BandSeries[], step: number): number[] {
  const all = series.flatMap((one) => one.x)
  if (all.length === 0) return []
  if (series.some(({ isUneven }) => isUneven)) return [...new Set(all)].sort((a, b) => a - b)
  const first = all.reduce((a, b) => Math.min(a, b))
  const last = all.reduce((a, b) => Math.max(a, b))
  return Array.from({ length: Math.round((last - first) / step) + 1 }, (_, index) => first + index * step)
}

/** Merge series into rows by x, in the shown unit (`factor` times the API's). */
export function mergeBands(series: readonly BandSeries[], factor = 1, step = 1): ChartRow[] {
  const places = series.map((one) => new Map(one.x.map((x, index) => [x, index])))
  return fullAxis(series, step).map((x) => {
    const row: ChartRow = { x }
    series.forEach(({ band }, i) => {
      const at = places[i]?.get(x)
      const mean = at === undefined ? null : band.mean[at]
      const low = at === undefined ? null : band.low[at]
      const high = at === undefined ? null : band.high[at]
      row[`mean_${i}`] = mean == null ? null : mean * factor
      row[`band_${i}`] = low == null || high == null ? null : [low * factor, high * factor]
      band.runs?.forEach((run, k) => {
        const value = at === undefined ? null : run[at]
        row[`run_${i}_${k}`] = value == null ? null : value * factor
      })
    })
    return row
  })
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

/** Where a series is read at x: there, or of uneven steps at the nearest one. -1 where the series does not reach. */
export function placeAt({ x: places, isUneven }: Pick<BandSeries, 'x' | 'isUneven'>, x: number): number {
  if (!isUneven || x > (places.at(-1) ?? 0)) return places.indexOf(x)
  return places.reduce((best, place, index) => (Math.abs(place - x) < Math.abs((places[best] ?? 0) - x) ? index : best), 0)
}

/** The values of a series at x, or null when the series has no such bin. */
export function readingAt(series: BandSeries, x: number): ReadingAt | null {
  const index = placeAt(series, x)
  if (index === -1) return null
  const { mean, low, high, n } = series.band
  return { mean: mean[index] ?? null, low: low[index] ?? null, high: high[index] ?? null, n: n[index] ?? 0 }
}
