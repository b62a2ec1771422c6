import type { Precision } from '@/api/types'
import { formatNumber, plural } from '@/lib/format'

const ENDED = {
  precise_enough: 'Ended: every condition reached this precision',
  most_cycles: 'Ended with its last cycle',
} as const

/** "Within ± 5 % of the mean are asked for · 12 of at most 60 cycles have begun · Ended because …". */
export function precisionText({ asked, cycles, ended }: Precision): string {
  const begun = `${cycles} of at most ${plural(asked.most_cycles, 'cycle')} ${cycles === 1 ? 'has' : 'have'} begun`
  return [`± ${asked.half_width_percent} % of the mean requested`, begun, ...(ended ? [ENDED[ended]] : [])].join(' · ')
}

/** "± 3.2 %"; why there is none where there is none. */
export function widthText({ runs, mean, half_width, half_width_percent }: Precision['widths'][number]): string {
  if (half_width_percent !== null) return `± ${formatNumber(half_width_percent)} %`
  if (half_width === null || mean === null) return runs < 5 ? 'needs five runs' : 'not known yet'
  return 'undefined for a mean of zero'
}
