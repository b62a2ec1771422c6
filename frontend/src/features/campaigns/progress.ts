import type { Campaign, CampaignNow } from '@/api/types'
import { formatBytes, plural } from '@/lib/format'
import type { Tone } from '@/lib/states'
import { toneOf } from '@/lib/states'
import { formatDuration, formatMinute } from '@/lib/time'

const ORDER: readonly Tone[] = ['good', 'partial', 'bad', 'ended', 'active']

/** Runs by outcome, for the progress bar. Failed attempts that were tried again are counted too. */
export function segments(counts: Campaign['counts']): { tone: Tone; count: number }[] {
  const byTone = new Map<Tone, number>()
  for (const [state, count] of Object.entries(counts)) byTone.set(toneOf(state), (byTone.get(toneOf(state)) ?? 0) + count)
  return ORDER.map((tone) => ({ tone, count: byTone.get(tone) ?? 0 })).filter((one) => one.count > 0)
}

/** All runs that the bar is over: planned places and every further attempt. */
export function segmentsTotal(campaign: Pick<Campaign, 'counts' | 'runs_total'>): number {
  const all = Object.values(campaign.counts).reduce((sum, count) => sum + count, 0)
  return Math.max(campaign.runs_total, all)
}

/** "about 20 min left, until 3 Mar, 15:42 UTC". An estimate is not a countdown: whole minutes above two, tens of seconds below. */
export function endsText(ends_at: string, now_ms: number): string {
  const left_s = Math.max(0, (Date.parse(ends_at) - now_ms) / 1000)
  const grain = left_s > 120 ? 60 : 10
  return `about ${formatDuration(Math.ceil(left_s / grain) * grain)} left, until ${formatMinute(ends_at)}`
}

/** "1.2 GB carried of at most 5 GB": of the campaign's own limit, or else of what its plan, or one firing of it, can come to. */
export function bytesText(
  { used_bytes, limit_bytes }: Pick<CampaignNow, 'used_bytes' | 'limit_bytes'>,
  planned_bytes: number,
  isFired: boolean,
): string {
  if (limit_bytes !== null) return `${formatBytes(used_bytes)} transferred of the limit of ${formatBytes(limit_bytes)}`
  return `${formatBytes(used_bytes)} transferred of at most ${formatBytes(planned_bytes)} ${isFired ? 'per firing' : 'planned'}`
}

/** "4 of 6 runs complete · 1 failed". Failed attempts that were tried again are counted too. */
export function progressText(campaign: Pick<Campaign, 'counts' | 'runs_total' | 'being_removed'>): string {
  if (campaign.being_removed === 'all') {
    const left = Object.values(campaign.counts).reduce((sum, count) => sum + count, 0)
    return `Being deleted · ${plural(left, 'run')} left`
  }
  if (campaign.runs_total === 0) return 'No run yet'
  const { complete, failed, missed, incomplete, cancelled } = campaign.counts
  const parts = [`${complete} of ${plural(campaign.runs_total, 'run')} complete`]
  if (failed) parts.push(`${failed} failed`)
  if (missed) parts.push(`${missed} missed`)
  if (incomplete) parts.push(`${incomplete} incomplete`)
  if (cancelled) parts.push(`${cancelled} cancelled`)
  return parts.join(' · ')
}
