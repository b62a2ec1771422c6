import type { Evidence, Interval, Outlier, PhaseName } from '@/api/types'
import type { ForestRow } from '@/charts/ForestChart'
import { formatNumber, formatSigned, NO_VALUE, plural } from '@/lib/format'
import { METRICS } from '../results/series'

export interface Measure {
  name: string
  title: string
  unit: string
  factor: number
}

/** What statistics are about: the metrics of each phase, and of the whole run when it became steady. */
export const MEASURES: readonly Measure[] = [...METRICS, { name: 'time_to_steady_s', title: 'Time to steady state', unit: 's', factor: 1 }]

/** Whether any comparison has two cycles: with fewer there is no interval and nothing to test. */
export const canTell = (comparisons: readonly Evidence[]) => comparisons.some(({ difference }) => difference.n > 1)

/** Which comparisons are shown. */
export interface Place {
  link: string
  flow: number
  phase: PhaseName
  metric: Measure
}

/** What can be chosen in a phase, as the comparisons have it. */
export function choices(comparisons: readonly Evidence[], phase: PhaseName) {
  const has = new Set(comparisons.filter((one) => one.phase === phase).map(({ metric }) => metric))
  return {
    links: [...new Set(comparisons.map(({ link }) => link))],
    flows: [...new Set(comparisons.map(({ flow }) => flow))].sort((a, b) => a - b),
    metrics: MEASURES.filter(({ name }) => has.has(name)),
  }
}

type Wish = { link?: string | undefined; flow?: number | undefined; phase?: PhaseName | undefined; metric?: string | undefined }

/** The place that the address asks for, or the first there is; null without comparisons. */
export function placeOf(comparisons: readonly Evidence[], wish: Wish): Place | null {
  const phase = wish.phase ?? 'startup'
  const { links, flows, metrics } = choices(comparisons, phase)
  const link = links.find((one) => one === wish.link) ?? links[0]
  const flow = flows.find((one) => one === wish.flow) ?? flows[0]
  const metric = metrics.find(({ name }) => name === wish.metric) ?? metrics[0]
  if (link === undefined || flow === undefined || metric === undefined) return null
  return { link, flow, phase, metric }
}

export function comparisonsAt(comparisons: readonly Evidence[], { link, flow, phase, metric }: Place): Evidence[] {
  return comparisons.filter((one) => one.link === link && one.flow === flow && one.phase === phase && one.metric === metric.name)
}

export const pairName = ({ condition, baseline }: Pick<Evidence, 'condition' | 'baseline'>) => `${condition} − ${baseline}`

/** Rows of the forest plot, in the shown unit. */
export function forestRows(shown: readonly Evidence[], factor: number): ForestRow[] {
  const scaled = (value: number | null) => (value === null ? null : value * factor)
  return shown.map((one, style) => ({
    label: pairName(one),
    style: style + 1,
    mean: scaled(one.difference.mean),
    low: scaled(one.difference.low),
    high: scaled(one.difference.high),
    bootstrap_low: scaled(one.bootstrap_low),
    bootstrap_high: scaled(one.bootstrap_high),
  }))
}

/** "+41.2 Mb/s (+38.0 to +44.4)". */
export function differenceText({ mean, low, high }: Interval, { factor, unit }: Measure): string {
  if (mean === null) return 'no value'
  const text = `${formatSigned(mean * factor)} ${unit}`
  return low === null || high === null ? text : `${text} (${formatSigned(low * factor)} to ${formatSigned(high * factor)})`
}

/** What these cycles can show, and how many more the difference seen so far would take. */
export function powerSentence(one: Evidence, { factor, unit }: Measure): string {
  const { difference, detectable_difference: visible } = one
  if (visible === null || difference.mean === null) {
    return `With n = ${difference.n} nothing can be said yet: it takes two cycles in which both conditions are complete.`
  }
  if (difference.sd === 0) return `All ${difference.n} cycles gave the same difference, ${signed(difference.mean * factor, unit)}.`
  const sees = `With n = ${difference.n} you can see ${formatNumber(visible * factor)} ${unit}.`
  return `${sees} ${missingSentence(one, signed(difference.mean * factor, unit))}`
}

function missingSentence({ cycles_needed, cycles_missing, difference }: Evidence, seen: string): string {
  if (difference.mean === 0) return 'So far there is no difference to see.'
  if (cycles_needed === null || cycles_missing === null) return `No practical number of cycles would show the ${seen} seen so far.`
  if (cycles_missing === 0) return `That is enough for the ${seen} seen so far.`
  const more = `${plural(cycles_missing, 'more cycle is', 'more cycles are')} needed`
  return `${more} to see ${seen}, the difference so far.`
}

const signed = (value: number, unit: string) => `${formatSigned(value)} ${unit}`

const SIGNIFICANT = 0.05

/** "0.012", "< 0.001". */
export function formatP(p: number | null): string {
  if (p === null) return NO_VALUE
  return p < 0.001 ? '< 0.001' : formatNumber(p, 3)
}

/** What the corrected tests allow to say. */
export function testsVerdict({ shape_p, location_p }: Pick<Evidence, 'shape_p' | 'location_p'>): string {
  if (shape_p === null || location_p === null) return 'needs three values a side'
  if (location_p < SIGNIFICANT) return 'level differs'
  return shape_p < SIGNIFICANT ? 'shape differs, level does not' : 'no difference shown'
}

type Placed = Pick<Outlier, 'value' | 'median'>

const offRatio = ({ value, median }: Placed) => (median === 0 ? null : (value - median) / Math.abs(median))

/** How far a value lies from the median of its condition: "−33 %". */
export function offText(one: Placed): string {
  const ratio = offRatio(one)
  return ratio === null ? NO_VALUE : `${formatSigned(100 * ratio)} %`
}

/** What lies farthest from its median, as a share of it, comes first. */
export function farthestFirst<One extends Placed>(outliers: readonly One[]): One[] {
  const distance = (one: Placed) => Math.abs(offRatio(one) ?? Number.POSITIVE_INFINITY)
  return [...outliers].sort((a, b) => distance(b) - distance(a) || 0)
}
