import { type Estimate, formatEstimate, formatNumber, formatSigned, NO_VALUE } from './format'

interface Paired {
  difference: { n: number }
  paired_ratio: Estimate
}

/** What a comparison has to say for itself, in the API's words. */
interface Comparison {
  condition: string
  reading: 'higher' | 'lower' | 'no_difference' | 'too_few' | 'exploratory'
  cycles_higher: number
  cycles_lower: number
  cycles_for_test: number | null
  difference: { n: number }
}

export function intervalText(low: number | null, high: number | null, factor: number): string {
  return low === null || high === null ? NO_VALUE : `${formatSigned(low * factor)} to ${formatSigned(high * factor)}`
}

/** "+41.2 Mb/s (+38.0 to +44.4)": a difference in the shown unit. */
export function differenceText({ mean, low, high }: Omit<Estimate, 'n'>, { factor, unit }: { factor: number; unit: string }): string {
  if (mean === null) return 'no value'
  const text = [formatSigned(mean * factor), unit].filter(Boolean).join(' ')
  return low === null || high === null ? text : `${text} (${intervalText(low, high, factor)})`
}

/** "9.6 ×", the condition's mean over the baseline's. */
export const ratioText = (ratio: number | null) => (ratio === null ? NO_VALUE : `${formatNumber(ratio)} ×`)

/** The mean of the cycles' own ratios with its interval; null where a cycle has none: those left would be a choice. */
export function cycleRatio({ difference, paired_ratio }: Paired): Estimate | null {
  return paired_ratio.n > 0 && paired_ratio.n === difference.n ? paired_ratio : null
}

/** "9.6 (8.1–11.3) times", over cycles. */
export function timesText(one: Paired): string | null {
  const found = cycleRatio(one)
  return found && `${formatEstimate(found)} times`
}

/** "higher in all 3 cycles", "lower in 7 of 10 cycles". */
function cyclesText({ cycles_higher: higher, cycles_lower: lower, difference: { n } }: Comparison): string {
  const most = Math.max(higher, lower)
  if (most === 0) return `equal in all ${n} cycles`
  return `${higher >= lower ? 'higher' : 'lower'} in ${most === n ? `all ${n}` : `${most} of ${n}`} cycles`
}

/** Whether a test shows a difference. */
export const isShown = ({ reading }: Pick<Comparison, 'reading'>) => reading === 'higher' || reading === 'lower'

/** What may be said of a comparison, in the same words wherever it is shown. */
export function readingText(one: Comparison): string {
  if (isShown(one)) return `${one.condition} ${one.reading}`
  if (one.reading === 'no_difference') return 'no difference shown'
  if (one.difference.n < 2) return 'needs two cycles or more'
  return one.reading === 'too_few' ? `${cyclesText(one)}; a test needs ${one.cycles_for_test ?? 'more'}` : `${cyclesText(one)}, not tested`
}
