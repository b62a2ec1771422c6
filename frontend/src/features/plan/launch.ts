import type { CampaignPreview, Link } from '@/api/types'
import { formatBytes, formatNumber, plural } from '@/lib/format'
import { formatDuration, formatMinute } from '@/lib/time'

type Planned = Pick<CampaignPreview, 'campaign' | 'estimate'>

/** "288 runs, until about 29 Nov, 12:00 UTC, and at most about 87.8 GB." Of one firing, where a trigger starts them. */
export function launchText({ campaign, estimate }: Planned, now_ms: number): string {
  const volume = `at most about ${formatBytes(estimate.bytes)}`
  if (campaign.trigger)
    return `Each firing plans ${plural(estimate.runs, 'run')} of ${formatDuration(estimate.duration_s)} in all, ${volume}.`
  const end = formatMinute(new Date(now_ms + 1000 * estimate.duration_s).toISOString())
  return `${plural(estimate.runs, 'run')}, until about ${end}, and ${volume}.`
}

/**
 * "About 44 % of the 100 GB left until 1 Dec, 00:00 UTC on viasat.", for each link with an allowance. Each link carries the same
 * runs, so each has the same share of the volume.
 */
export function allowanceTexts({ campaign, estimate }: Planned, links: readonly Link[]): string[] {
  const bytes = estimate.bytes / Math.max(1, campaign.links.length)
  return links
    .filter(({ name, allowance_bytes }) => campaign.links.includes(name) && allowance_bytes !== null)
    .map(({ name, allowance_bytes, month }) => {
      const left = month ? month.left_bytes : (allowance_bytes ?? 0)
      const share = left > 0 ? `about ${formatNumber((100 * bytes) / left, 0)} % of` : `about ${formatBytes(bytes)}, more than`
      return `On ${name}: ${share} the ${formatBytes(left)} left of its allowance${month ? ` until ${formatMinute(month.resets_at)}` : ''}.`
    })
}
