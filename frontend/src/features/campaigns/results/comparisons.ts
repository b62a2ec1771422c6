import type { Comparison, Interval } from '@/api/types'
import { formatSigned, NO_VALUE } from '@/lib/format'

/** The interval keeps to one side of zero. */
export function isClear(difference: Pick<Interval, 'low' | 'high'>): boolean {
  return difference.low !== null && difference.high !== null && (difference.low > 0 || difference.high < 0)
}

export function intervalText(low: number | null, high: number | null, factor: number): string {
  return low === null || high === null ? NO_VALUE : `${formatSigned(low * factor)} to ${formatSigned(high * factor)}`
}

/** What the interval allows to say, in words. */
export function verdict({ difference, condition }: Pick<Comparison, 'difference' | 'condition'>): string {
  if (difference.low === null || difference.high === null) return 'needs two cycles or more'
  if (!isClear(difference)) return 'no clear difference'
  return difference.low > 0 ? `${condition} higher` : `${condition} lower`
}
