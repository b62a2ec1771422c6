import type { Window } from '@/charts/axes'
import { type AxisFacts, valueAxis } from '@/charts/axis'
import type { BandSeries } from '@/charts/bands'
import type { LinkLevels } from '@/lib/captions'
import { formatNumber } from '@/lib/format'
import { bandSeries, type LabelledGroup, levelOf, type StackedQuantity } from './series'

/** A stretch of time with what is shown of it. */
export interface Shown {
  link: LinkLevels | undefined
  windows: readonly Window[]
  from: number
  to: number
  /** Intervals, or the single runs where they are few. */
  hasBands: boolean
}

/** Few runs are drawn one by one, since an interval of so few says little: the report has the runs of these. */
export const areFew = (groups: readonly LabelledGroup[]) => groups.every(({ group }) => group.series.throughput_bps.runs.length > 0)

/** More series than these in one chart cannot be told apart on paper. */
export const MOST_OVERLAID = 4

/** What one chart of the stack draws. beside: the groups of the charts that have the same axis. */
export function chartFacts(
  quantity: StackedQuantity,
  groups: readonly LabelledGroup[],
  shown: Shown,
  beside?: readonly BandSeries[],
): AxisFacts {
  const { link, from, to, hasBands } = shown
  return {
    series: bandSeries(groups, quantity.name),
    beside,
    from,
    to,
    hasBands: hasBands && !isBare(quantity, groups),
    level: link ? levelOf(quantity, link) : undefined,
    factor: quantity.factor,
    limit: quantity.limit,
  }
}

/** Most seconds have no value: an interval of a second says nothing. */
export const isBare = (quantity: StackedQuantity, groups: readonly LabelledGroup[]) => Boolean(quantity.isSparse) && !areFew(groups)

/** What the dashed level is, or that it lies beyond the axis; and whether intervals do. */
export function noteOf(quantity: StackedQuantity, facts: AxisFacts): string | undefined {
  const { isLevelShown, isCut } = valueAxis(facts)
  const parts: string[] = []
  if (facts.level) {
    const value = `${facts.level.label} ${formatNumber(facts.level.value * quantity.factor)} ${quantity.unit}`
    parts.push(isLevelShown ? `┄ ${value}` : `${value}, beyond the axis`)
  }
  if (isCut) parts.push('wide intervals are cut off')
  return parts.length > 0 ? parts.join(' · ') : undefined
}
