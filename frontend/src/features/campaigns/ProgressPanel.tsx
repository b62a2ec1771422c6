import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { CampaignDetail } from '@/api/types'
import { formatDuration, formatMoment, secondsBetween } from '@/lib/time'
import { ProgressBar } from '@/ui/ProgressBar'
import { useNow } from '@/ui/useNow'
import classes from './campaigns.module.css'
import { progressText, remainingSeconds, segments, segmentsTotal } from './progress'

/** How far the campaign is, when it will be done, and below it what runs now. */
export function ProgressPanel({ campaign, children }: { campaign: CampaignDetail; children: ReactNode }) {
  const now_ms = useNow(1000)
  if (campaign.state === 'draft') return null
  const left_s = remainingSeconds(campaign, campaign.estimate.duration_s, now_ms)
  return (
    <section className={classes.progressPanel} aria-label="Progress">
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm" fw={550}>
          {progressText(campaign)}
        </Text>
        <Text size="sm" c="dimmed">
          {left_s === null ? endText(campaign) : `about ${formatDuration(coarse(left_s))} left`}
        </Text>
      </Group>
      <ProgressBar label="Runs done" total={segmentsTotal(campaign)} segments={segments(campaign.counts)} />
      {children}
    </section>
  )
}

/** An estimate is no countdown: whole minutes above two, tens of seconds below. */
function coarse(seconds: number): number {
  const grain = seconds > 120 ? 60 : 10
  return Math.ceil(seconds / grain) * grain
}

function endText(campaign: CampaignDetail): string {
  const took = secondsBetween(campaign.launched_at, campaign.ended_at)
  if (campaign.ended_at) return `${formatMoment(campaign.ended_at)}${took === null ? '' : ` · took ${formatDuration(took)}`}`
  return campaign.launched_at ? `launched ${formatMoment(campaign.launched_at)}` : ''
}
