import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CampaignDetail, RunSummary } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { UNDER_WAY } from '@/lib/states'
import { stopOf } from '@/lib/stop'
import { formatRelative } from '@/lib/time'
import { StateBadge } from '@/ui/StateBadge'
import { useNow } from '@/ui/useNow'
import { LiveFlows } from './LiveFlows'
import { useRuns } from './queries'
import classes from './runs.module.css'

/** The runs under way, or when the next one is due. */
export function NowRunning({ campaign }: { campaign: CampaignDetail }) {
  const now_ms = useNow(1000)
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
          <LiveFlows flows={run.live.flows} />
        </>
      ) : null}
    </li>
  )
}
