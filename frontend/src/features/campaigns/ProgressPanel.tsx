import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { CampaignDetail, CampaignNow } from '@/api/types'
import { formatDuration, formatMoment, secondsBetween } from '@/lib/time'
import { ProgressBar } from '@/ui/ProgressBar'
import { useNow } from '@/ui/useNow'
import classes from './campaigns.module.css'
import { bytesText, endsText, progressText, segments, segmentsTotal } from './progress'
import { useCampaignNow } from './queries'

/** How far the campaign is, when it will be done, what it has carried, and below it what it does now. */
export function ProgressPanel({ campaign, children }: { campaign: CampaignDetail; children: (now: CampaignNow) => ReactNode }) {
  const isUnderWay = campaign.state === 'running' || campaign.state === 'paused'
  const now = useCampaignNow(campaign.id, isUnderWay)
  const now_ms = useNow(1000)
  if (campaign.state === 'draft') return null
  return (
    <section className={classes.progressPanel} aria-label="Progress">
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm" fw={550}>
          {progressText(campaign)}
        </Text>
        <Text size="sm" c="dimmed">
          {now.data?.ends_at && isUnderWay ? endsText(now.data.ends_at, now_ms) : endText(campaign)}
        </Text>
      </Group>
      <ProgressBar label="Runs ended" total={segmentsTotal(campaign)} segments={segments(campaign.counts)} />
      {now.data && isUnderWay ? (
        <>
          <Text size="sm" c="dimmed" mt={8}>
            {bytesText(now.data, campaign.estimate.bytes, Boolean(campaign.spec.trigger))}
          </Text>
          {children(now.data)}
        </>
      ) : null}
    </section>
  )
}

function endText(campaign: CampaignDetail): string {
  const took = secondsBetween(campaign.launched_at, campaign.ended_at)
  if (campaign.ended_at) return `${formatMoment(campaign.ended_at)}${took === null ? '' : ` · took ${formatDuration(took)}`}`
  return campaign.launched_at ? `launched ${formatMoment(campaign.launched_at)}` : ''
}
