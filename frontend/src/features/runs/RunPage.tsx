import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Run } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { runStateText, toneOf, UNDER_WAY } from '@/lib/states'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { PageHeader } from '@/ui/PageHeader'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { ChartsTab } from './ChartsTab'
import { EventsTab } from './EventsTab'
import { ExitsTab } from './exits/ExitsTab'
import { FlowsPanel } from './FlowsPanel'
import { LimitsTab } from './limits/LimitsTab'
import { useCancelRun, useRun } from './queries'
import { SettingsTab } from './SettingsTab'
import { SourcePanel } from './SourcePanel'
import { isZoom, type RunSearch } from './search'
import { TimesPanel } from './TimesPanel'
import { TracesTab } from './TracesTab'

const route = getRouteApi('/shell/runs/$runId')

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
  const change = (next: Partial<RunSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: !isZoom(next), resetScroll: false })
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
            {UNDER_WAY.includes(run.state) || run.state === 'planned' ? <CancelRun run={run} /> : null}
            <Neighbours run={run} tab={search.tab} />
          </>
        }
      />
      <Stack gap="lg">
        <Outcome run={run} />
        {run.import_source ? <SourcePanel source={run.import_source} /> : null}
        <TimesPanel run={run} />
        <FlowsPanel run={run} />
        <Tabs
          value={tab}
          onChange={(value) =>
            void navigate({ search: { tab: (value ?? undefined) as RunSearch['tab'] }, replace: true, resetScroll: false })
          }
          keepMounted={false}
        >
          <Tabs.List mb="lg">
            <Tabs.Tab value="charts">Charts</Tabs.Tab>
            <Tabs.Tab value="exits">Slow-start exits</Tabs.Tab>
            <Tabs.Tab value="limits">Limits</Tabs.Tab>
            <Tabs.Tab value="settings">Settings and hosts</Tabs.Tab>
            <Tabs.Tab value="events">Events</Tabs.Tab>
            <Tabs.Tab value="traces">Traces</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="charts">
            <ChartsTab run={run} />
          </Tabs.Panel>
          <Tabs.Panel value="exits">
            <ExitsTab run={run} search={search} onSearch={change} />
          </Tabs.Panel>
          <Tabs.Panel value="limits">
            <LimitsTab run={run} />
          </Tabs.Panel>
          <Tabs.Panel value="settings">
            <SettingsTab run={run} />
          </Tabs.Panel>
          <Tabs.Panel value="events">
            <EventsTab run={run} />
          </Tabs.Panel>
          <Tabs.Panel value="traces">
            <TracesTab run={run} />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </>
  )
}

/** To the runs before and after it in the plan's order, on the same tab. */
function Neighbours({ run, tab }: { run: Run; tab: RunSearch['tab'] }) {
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
            renderRoot={(props) => <Link to="/runs/$runId" params={{ runId }} search={tab ? { tab } : {}} {...props} />}
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
      </Alert>
    )
  }
  if (run.state === 'running' && run.live) {
    return (
      <Alert color="signal" variant="light" title={`Running: ${Math.floor(run.live.elapsed_s)} s, ${formatBytes(run.live.bytes)} so far`}>
        <Text size="sm">Charts appear when the traces are uploaded: no telemetry crosses the link while it is measured.</Text>
      </Alert>
    )
  }
  return null
}

function CancelRun({ run }: { run: Run }) {
  const cancel = useCancelRun()
  return (
    <ConfirmButton
      variant="default"
      question="Cancel this run?"
      consequence="The transfer is stopped and the hosts are put back as they were. The run stays in the list as cancelled."
      isPending={cancel.isPending}
      error={cancel.error}
      onConfirm={(close) => cancel.mutate({ params: { path: { run_id: run.id } } }, { onSuccess: close })}
    >
      Cancel run
    </ConfirmButton>
  )
}
