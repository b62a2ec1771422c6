import { Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CampaignDetail, RunSummary } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { UNDER_WAY } from '@/lib/states'
import { formatDuration, formatMoment, formatRelative, secondsBetween } from '@/lib/time'
import { ProgressBar } from '@/ui/ProgressBar'
import { StateBadge } from '@/ui/StateBadge'
import { useNow } from '@/ui/useNow'
import classes from './campaigns.module.css'
import { progressText, remainingSeconds, segments, segmentsTotal } from './progress'
import { useRuns } from './queries'
import { stopOf } from './wording'

/** How far the campaign is, what runs now, and when it will be done. */
export function ProgressPanel({ campaign }: { campaign: CampaignDetail }) {
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
      {campaign.state === 'running' ? <NowRunning campaign={campaign} now_ms={now_ms} /> : null}
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

function NowRunning({ campaign, now_ms }: { campaign: CampaignDetail; now_ms: number }) {
  const runs = useRuns(campaign.id)
  const active = runs.data?.items.filter((run) => UNDER_WAY.includes(run.state)) ?? []
  if (active.length === 0) {
    return (
      <Text size="sm" c="dimmed" mt={10}>
        {campaign.next_due_at ? `Next run ${formatRelative(campaign.next_due_at, now_ms)}` : 'Waiting for the next run'}
      </Text>
    )
  }
  return (
    <ul className={classes.activeRuns}>
      {active.map((run) => (
        <ActiveRun key={run.id} run={run} campaign={campaign} />
      ))}
    </ul>
  )
}

function ActiveRun({ run, campaign }: { run: RunSummary; campaign: CampaignDetail }) {
  const stop = campaign.spec.conditions.find(({ name }) => name === run.condition)?.stop
  const share = stop && run.live ? (stop.seconds ? run.live.elapsed_s / stop.seconds : run.live.bytes / (stop.bytes ?? 1)) : 0
  return (
    <li>
      <StateBadge state={run.state} />
      <Link to="/runs/$runId" params={{ runId: run.id }}>
        {run.condition}, cycle {run.cycle}
      </Link>
      {run.attempt > 1 ? <span>attempt {run.attempt}</span> : null}
      {run.state === 'running' && run.live ? (
        <>
          <span className={classes.meter} aria-hidden="true">
            <span style={{ width: `${Math.min(100, share * 100)}%` }} />
          </span>
          <span>
            {Math.floor(run.live.elapsed_s)} s{stop ? ` of ${stopOf(stop)}` : ''} · {formatBytes(run.live.bytes)}
          </span>
        </>
      ) : null}
    </li>
  )
}
