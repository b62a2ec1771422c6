import type { EventTimes } from '@/api/types'
import { formatNumber, formatRate, NO_VALUE } from '@/lib/format'
import type { LabelledGroup } from './series'

/** "17.0", "28.0; 1 of 3 not within 32 s": no run is left unsaid. */
export function eventTimesText({ median, n, not_within, within_s }: EventTimes): string {
  const missed = not_within > 0 && within_s !== null ? `${not_within} of ${n} not within ${formatNumber(within_s, 0)} s` : null
  const text = median === null ? null : formatNumber(median)
  return [text, missed].filter(Boolean).join('; ') || NO_VALUE
}

/** What the common level is. */
export function levelSentence(groups: readonly LabelledGroup[]): string {
  const nominal = groups.find(({ group }) => group.level_basis === 'nominal' && group.level_bps !== null)
  const level = nominal ? `${formatRate(nominal.group.level_bps)}, the nominal rate minus header overhead` : null
  const median = groups.some(({ group }) => group.level_basis === 'median') ? "the condition's median steady state" : null
  return `The common level is 90 % of ${[level, median].filter(Boolean).join(', or where flows share the link of ')}.`
}
