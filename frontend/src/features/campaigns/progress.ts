import type { Campaign } from '@/api/types'
import { plural } from '@/lib/format'
import type { Tone } from '@/lib/states'
import { toneOf } from '@/lib/states'

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

/**
 * Seconds that a running campaign still takes: the plan's share for the runs to come, stretched when it runs late.
 * null when it is not running.
 */
export function remainingSeconds(
  campaign: Pick<Campaign, 'state' | 'launched_at' | 'runs_total' | 'runs_ended'>,
  planned_s: number,
  now_ms: number,
): number | null {
  if (campaign.state !== 'running' || !campaign.launched_at || campaign.runs_total === 0) return null
  const elapsed_s = Math.max(0, (now_ms - Date.parse(campaign.launched_at)) / 1000)
  const left = campaign.runs_total - campaign.runs_ended
  const planned_by_next_end_s = (planned_s * (campaign.runs_ended + 1)) / campaign.runs_total
  const lateness = Math.max(1, elapsed_s / planned_by_next_end_s)
  return (planned_s * left * lateness) / campaign.runs_total
}

/** "4 of 6 runs done · 1 failed". A run that was cancelled is not done. */
export function progressText(campaign: Pick<Campaign, 'counts' | 'runs_total' | 'runs_ended'>): string {
  const { failed, missed, incomplete, cancelled } = campaign.counts
  const parts = [`${Math.max(0, campaign.runs_ended - cancelled)} of ${plural(campaign.runs_total, 'run')} done`]
  if (failed) parts.push(`${failed} failed`)
  if (missed) parts.push(`${missed} missed`)
  if (incomplete) parts.push(`${incomplete} incomplete`)
  if (cancelled) parts.push(`${cancelled} cancelled`)
  return parts.join(' · ')
}
