import { type BandSeries, bandMaximum, isBandCut } from './bands'
import { type Scale, valueScale } from './ticks'

/** A horizontal line in API units. */
export interface Level {
  value: number
  label: string
}

/** A level beyond this many times the data's maximum is not drawn: it would press the data flat. */
export const LEVEL_REACH = 2.5

export interface AxisFacts {
  series: readonly BandSeries[]
  from: number
  to: number
  hasBands: boolean
  /** Shown unit per API unit. */
  factor: number
  level?: Level | undefined
  /** The most that the quantity can be, in API units: 100 for a share in percent. */
  limit?: number | undefined
  /** Series of other charts beside this one, which have the same axis. */
  beside?: readonly BandSeries[] | undefined
  /** What x means at 0, 1, 2 …: places of values that have no common step. */
  xNames?: readonly string[] | undefined
  /** Published values, in API units. */
  published?: readonly PublishedPoint[] | undefined
}

/** A value of a paper at an x, in the colour of a series. */
export interface PublishedPoint {
  id: string
  x: number
  value: number
  style: number
}

export interface ValueAxis {
  /** In the shown unit. */
  scale: Scale
  isLevelShown: boolean
  /** An interval reaches beyond the axis. */
  isCut: boolean
}

/** The value axis that shows these series, and what it leaves out. */
export function valueAxis(facts: AxisFacts, ticks = 5): ValueAxis {
  const { series, from, to, hasBands, factor, level, limit = Number.POSITIVE_INFINITY, beside = series } = facts
  const said = (facts.published ?? []).map(({ value }) => value)
  const data = Math.min(Math.max(bandMaximum(beside, from, to, hasBands), ...said), limit)
  const isLevelShown = level !== undefined && data > 0 && level.value <= data * LEVEL_REACH
  const scale = valueScale(Math.max(data, isLevelShown ? level.value : 0) * factor, ticks)
  return { scale, isLevelShown, isCut: hasBands && isBandCut(series, from, to, scale.max / factor) }
}
