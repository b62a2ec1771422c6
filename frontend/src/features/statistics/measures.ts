import type { Comparison, Outlier, PhaseName } from '@/api/types'
import type { ForestRow } from '@/charts/rowShapes'
import { differenceText, isShown, timesText } from '@/lib/comparisons'
import { formatNumber, formatSigned, NO_VALUE, plural } from '@/lib/format'
import { MEASURES, type Measure, phaseTitle } from '@/lib/quantities'

/** In place of a flow's number: an emulated link itself. */
export const THE_LINK = 0

export const flowLabel = (flow: number) => (flow === THE_LINK ? 'The link itself' : `Flow ${flow}`)

/** Whether any comparison has two cycles: with fewer there is no interval and nothing to test. */
export const canTell = (comparisons: readonly Comparison[]) => comparisons.some(({ difference }) => difference.n > 1)

/** Which comparisons are shown. */
export interface Place {
  link: string
  flow: number
  phase: PhaseName
  metric: Measure
}

/** Something that can be looked at. */
export type Offer = Pick<Comparison, 'link' | 'flow' | 'phase' | 'metric'>

/** What can be chosen for a flow in a phase, as the comparisons or the runs have it. Flows come first, then the link itself. */
export function choices(comparisons: readonly Offer[], phase: PhaseName, wished?: number) {
  const flows = [...new Set(comparisons.map(({ flow }) => flow))].sort((a, b) => Number(a === THE_LINK) - Number(b === THE_LINK) || a - b)
  const flow = flows.find((one) => one === wished) ?? flows[0]
  const has = new Set(comparisons.filter((one) => one.phase === phase && one.flow === flow).map(({ metric }) => metric))
  return {
    links: [...new Set(comparisons.map(({ link }) => link))],
    flows,
    phases: [...new Set(comparisons.map((one) => one.phase))],
    metrics: MEASURES.filter(({ name }) => has.has(name)),
  }
}

type Wish = { link?: string | undefined; flow?: number | undefined; phase?: PhaseName | undefined; metric?: string | undefined }

/** The place that the address asks for, or the first there is; null without comparisons. */
export function placeOf(comparisons: readonly Offer[], wish: Wish): Place | null {
  const phase = comparisons.find((one) => one.phase === wish.phase)?.phase ?? 'startup'
  const { links, flows, metrics } = choices(comparisons, phase, wish.flow)
  const link = links.find((one) => one === wish.link) ?? links[0]
  const flow = flows.find((one) => one === wish.flow) ?? flows[0]
  const metric = metrics.find(({ name }) => name === wish.metric) ?? metrics[0]
  if (link === undefined || flow === undefined || metric === undefined) return null
  return { link, flow, phase, metric }
}

export function comparisonsAt(comparisons: readonly Comparison[], { link, flow, phase, metric }: Place): Comparison[] {
  return comparisons.filter((one) => one.link === link && one.flow === flow && one.phase === phase && one.metric === metric.name)
}

export const pairName = ({ condition, baseline }: Pick<Comparison, 'condition' | 'baseline'>) => `${condition} − ${baseline}`

/** Of many, each goes by its own name: the title has the baseline's. */
export const namesOf = (shown: readonly Comparison[]): string[] =>
  shown.map((one) => (shown.length > MOST_PAIRS ? one.condition : pairName(one)))
const MOST_PAIRS = 4

/** Rows of the forest plot, in the shown unit. conditions: in the campaign's order, which colours go by. */
export function forestRows(shown: readonly Comparison[], factor: number, conditions: readonly string[]): ForestRow[] {
  const scaled = (value: number | null) => (value === null ? null : value * factor)
  const names = namesOf(shown)
  return shown.map((one, index) => ({
    label: names[index] ?? '',
    style: Math.max(0, conditions.indexOf(one.condition)),
    mean: scaled(one.difference.mean),
    low: scaled(one.difference.low),
    high: scaled(one.difference.high),
    bootstrap_low: scaled(one.bootstrap_low),
    bootstrap_high: scaled(one.bootstrap_high),
  }))
}

/** "+41.2 Mb/s (+38.0 to +44.4), 9.6 (8.1–11.3) times": without a ratio where a cycle has none. */
export function effectText(one: Comparison, measure: Measure): string {
  return [differenceText(one.difference, measure), timesText(one)].filter(Boolean).join(', ')
}

/** What these cycles can show, and how many more a difference takes that is as small as the interval allows. */
export function powerSentence(one: Comparison, measure: Measure): string {
  const { difference, detectable_difference: visible, cycles_for_test } = one
  const { n } = difference
  if (visible === null || difference.mean === null) {
    return `With n = ${n} nothing can be said yet: it takes two cycles in which both conditions are complete.`
  }
  if (difference.sd === 0) return `All ${n} cycles gave the same difference, ${signed(difference.mean * measure.factor, measure.unit)}.`
  const sees =
    one.reading === 'too_few'
      ? `${n} cycles cannot show any difference: the test takes ${cycles_for_test}.`
      : `With n = ${n} a true difference of ${formatNumber(visible * measure.factor)} ${measure.unit} is seen with a chance of 80 %.`
  return `${sees} ${missingSentence(one, measure)}`
}

/** The near end, since the difference seen so far overstates what is there. */
function missingSentence({ cycles_needed, cycles_missing, difference: { low, high } }: Comparison, { factor, unit }: Measure): string {
  if (low === null || high === null || (low <= 0 && high >= 0))
    return 'The interval holds zero: how many cycles it would take cannot be said.'
  const near = signed((low > 0 ? low : high) * factor, unit)
  if (cycles_needed === null || cycles_missing === null) return `No practical number of cycles would show one as small as ${near}.`
  if (cycles_missing === 0) return `That is enough for the near end of the interval, ${near}.`
  return `${plural(cycles_missing, 'more cycle is', 'more cycles are')} needed to see the near end of the interval, ${near}.`
}

const signed = (value: number, unit: string) => `${formatSigned(value)} ${unit}`

/** "0.012", "< 0.001". */
export function formatP(p: number | null): string {
  if (p === null) return NO_VALUE
  return p < 0.001 ? '< 0.001' : formatNumber(p, 3)
}

/** Whether the distributions differ in any way, as far as so few cycles can show it. */
export function shapeText({ shape_p, reading }: Pick<Comparison, 'shape_p' | 'reading'>): string {
  if (shape_p === null) return 'too few cycles'
  if (shape_p <= 0.05) return 'differs'
  // The levels differ: a row that shows it cannot also state that nothing does.
  return isShown({ reading }) ? 'nothing beyond the level' : 'no difference shown'
}

/** "steady.throughput_bps" as a title: "Throughput, steady state". */
export function primaryTitle(name: string): string {
  const [phase, metric] = name.includes('.') ? name.split('.') : [undefined, name]
  const title = MEASURES.find((one) => one.name === metric)?.title ?? name
  return phase ? `${title}, ${phaseTitle(phase).toLowerCase()}` : title
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
