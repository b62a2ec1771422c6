import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Run } from '@/api/types'
import { isZoom } from '@/features/exits/search'
import { ChartsTab } from '@/features/results/run/ChartsTab'
import { CausePanel } from '@/features/runs/CausePanel'
import { FlowsPanel } from '@/features/runs/FlowsPanel'
import { LiveFlows } from '@/features/runs/LiveFlows'
import { PlausibleAlert } from '@/features/runs/Plausible'
import { useRun } from '@/features/runs/queries'
import { CancelRun, RerunAndOpen } from '@/features/runs/RunVerbs'
import { isStoppable } from '@/features/runs/rerun'
import { SourcePanel } from '@/features/runs/SourcePanel'
import { TimesPanel } from '@/features/runs/TimesPanel'
import { UnexpectedAlert } from '@/features/runs/Unexpected'
import { formatBytes } from '@/lib/format'
import { changedBy, type SearchChange } from '@/lib/search'
import { runStateText, toneOf } from '@/lib/states'
import { Allowed } from '@/ui/Allowed'
import { PageHeader } from '@/ui/PageHeader'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { PageTabs } from './PageTabs'
import { RUN_TABS, type RunSearch } from './runTabs'
import type { Contents } from './tabs'

const route = getRouteApi('/shell/runs/$runId')

const CONTENTS: Contents<typeof RUN_TABS, { run: Run }> = {
  charts: ChartsTab,
  exits: { load: () => import('@/features/exits/run/ExitsTab').then(({ ExitsTab }) => ExitsTab) },
  limits: { load: () => import('@/features/limits/run/LimitsTab').then(({ LimitsTab }) => LimitsTab) },
  link: { load: () => import('@/features/links/run/LinkTab').then(({ LinkTab }) => LinkTab) },
  hops: { load: () => import('@/features/hops/HopsTab').then(({ HopsTab }) => HopsTab) },
  settings: { load: () => import('@/features/runs/SettingsTab').then(({ SettingsTab }) => SettingsTab) },
  events: { load: () => import('@/features/runs/EventsTab').then(({ EventsTab }) => EventsTab) },
  raw: { load: () => import('@/features/runs/raw/RawTab').then(({ RawTab }) => RawTab) },
  traces: { load: () => import('@/features/runs/TracesTab').then(({ TracesTab }) => TracesTab) },
}

export function RunPage() {
  const { runId } = route.useParams()
  const run = useRun(runId)
  return (
    <QueryPanel query={run} skeletonRows={12}>
      {(data) => <Content run={data} />}
    </QueryPanel>
  )
}

function Content({ run }: { run: Run }) {
  const search = route.useSearch()
  const { tab = 'charts' } = search
  const navigate = route.useNavigate()
  const change = (next: SearchChange<RunSearch>) =>
    void navigate({ search: changedBy(next), replace: typeof next !== 'function' && !isZoom(next), resetScroll: false })
  return (
    <>
      <PageHeader
        trail={
          <>
            <Link to="/campaigns">Campaigns</Link>
            {' / '}
            <Link to="/campaigns/$campaignId" params={{ campaignId: run.campaign_id }} search={{ tab: 'runs' }}>
              {run.campaign_name}
            </Link>
          </>
        }
        title={`${run.condition}, cycle ${run.cycle}`}
        badges={<StateBadge state={run.state} label={runStateText(run)} />}
        description={
          run.import_source
            ? 'Imported'
            : `Link ${run.link} · attempt ${run.attempt} · run ${run.position} of ${run.runs_in_cycle} in its cycle`
        }
        actions={
          <>
            <Allowed verb="run_campaign" owner={run.owner_id}>
              {isStoppable(run.state) && !run.import_source ? <CancelRun run={run}>Cancel run</CancelRun> : null}
              {run.is_repeatable ? <RerunAndOpen run={run} /> : null}
            </Allowed>
            <Neighbours run={run} search={search} />
          </>
        }
      />
      <Stack gap="lg">
        <Outcome run={run} />
        <UnexpectedAlert unexpected={run.unexpected} />
        <PlausibleAlert run={run} />
        {run.import_source ? <SourcePanel source={run.import_source} /> : null}
        {run.trigger ? <CausePanel cause={run.trigger} /> : null}
        <TimesPanel run={run} />
        <FlowsPanel run={run} />
        <PageTabs
          tabs={RUN_TABS}
          contents={CONTENTS}
          subject={{ run }}
          {...{ tab, search }}
          onTab={(next) => void navigate({ search: { tab: next }, replace: true, resetScroll: false })}
          onSearch={change}
        />
      </Stack>
    </>
  )
}

/** To the runs before and after it in the plan's order, on the same tab; of samples with the same fields and the same stretch. */
function Neighbours({ run, search }: { run: Run; search: RunSearch }) {
  const kept: RunSearch = search.tab === 'raw' ? search : { tab: search.tab }
  const steps = [
    ['← Previous run', run.previous_run_id],
    ['Next run →', run.next_run_id],
  ] as const
  return (
    <Group component="nav" gap="xs" aria-label="Runs of the campaign">
      {steps.map(([label, runId]) =>
        runId ? (
          <Button
            key={label}
            size="xs"
            variant="default"
            renderRoot={(props) => <Link to="/runs/$runId" params={{ runId }} search={search.tab ? kept : {}} {...props} />}
          >
            {label}
          </Button>
        ) : null,
      )}
    </Group>
  )
}

/** Why a run ended as it did, or how far it is. */
function Outcome({ run }: { run: Run }) {
  if (run.reason) {
    return (
      <Alert color={toneOf(run.state) === 'bad' ? 'red' : 'yellow'} variant="light" title={run.detail ?? run.reason}>
        <Text size="xs" c="dimmed">
          {run.reason}
        </Text>
        {run.later_attempt_id ? (
          <Link to="/runs/$runId" params={{ runId: run.later_attempt_id }}>
            A later attempt has taken its place
          </Link>
        ) : null}
      </Alert>
    )
  }
  if (run.state === 'running' && run.live) {
    return (
      <Alert color="signal" variant="light" title={`Running: ${Math.floor(run.live.elapsed_s)} s, ${formatBytes(run.live.bytes)} so far`}>
        <LiveFlows live={run.live} controls={Object.fromEntries(run.flows.map((flow) => [flow.flow, flow.asked_cc]))} />
        <Text size="sm">Charts appear when the traces are uploaded: no telemetry crosses the link while it is measured.</Text>
      </Alert>
    )
  }
  return null
}
