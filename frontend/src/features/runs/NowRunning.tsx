import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CampaignDetail, CampaignNow, RunSummary } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { stopOf } from '@/lib/stop'
import { formatRelative } from '@/lib/time'
import { StateBadge } from '@/ui/StateBadge'
import { useNow } from '@/ui/useNow'
import { LiveFlows } from './LiveFlows'
import classes from './runs.module.css'

/** So many runs of what comes next are named, one a link; of more, their number. */
const NEXT_SHOWN = 3

/** The runs under way with what their flows do, and which run is next on each link. */
export function NowRunning({ campaign, now }: { campaign: CampaignDetail; now: CampaignNow }) {
  return (
    <>
      {now.active.length > 0 ? (
        <ul className={classes.activeRuns} aria-label="Runs under way">
          {now.active.map((run) => (
            <ActiveRun key={run.id} run={run} campaign={campaign} />
          ))}
        </ul>
      ) : null}
      <Next campaign={campaign} runs={now.next} waits={now.waits} />
    </>
  )
}

function Next({ campaign, runs, waits }: { campaign: CampaignDetail; runs: readonly RunSummary[]; waits: CampaignNow['waits'] }) {
  const now_ms = useNow(1000)
  if (runs.length === 0) return null
  const more = runs.length - NEXT_SHOWN
  return (
    <Text size="sm" c="dimmed" mt={10}>
      Next:{' '}
      {runs.slice(0, NEXT_SHOWN).map((run, index) => (
        <span key={run.id}>
          {index > 0 ? '; ' : ''}
          <Link to="/runs/$runId" params={{ runId: run.id }}>
            {nameOf(run, campaign)}
          </Link>
          , {Date.parse(run.due_at) > now_ms ? formatRelative(run.due_at, now_ms) : waitText(run, waits)}
        </span>
      ))}
      {more > 0 ? ` and on ${more} more ${more === 1 ? 'link' : 'links'}` : ''}
    </Text>
  )
}

/** "it waits: server is in a run of campaign X on leo". */
function waitText(run: RunSummary, waits: CampaignNow['waits']): string {
  const wait = waits?.find(({ run_id }) => run_id === run.id)
  return wait ? `it waits: ${wait.waits_for.replace(/\.$/, '')}` : 'as soon as it can'
}

const nameOf = (run: RunSummary, campaign: CampaignDetail) =>
  `${run.condition}, cycle ${run.cycle}${campaign.links.length > 1 ? `, ${run.link}` : ''}`

function ActiveRun({ run, campaign }: { run: RunSummary; campaign: CampaignDetail }) {
  const condition = campaign.spec.conditions.find(({ name }) => name === run.condition)
  const stop = condition?.stop
  const share = stop && run.live ? (stop.seconds ? run.live.elapsed_s / stop.seconds : run.live.bytes / (stop.bytes ?? 1)) : 0
  const controls = Object.fromEntries(condition?.flows.flatMap((flow, index) => ('cc' in flow ? [[index + 1, flow.cc]] : [])) ?? [])
  return (
    <li>
      <StateBadge state={run.state} />
      <Link to="/runs/$runId" params={{ runId: run.id }}>
        {nameOf(run, campaign)}
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
          <LiveFlows live={run.live} controls={controls} />
        </>
      ) : null}
    </li>
  )
}
