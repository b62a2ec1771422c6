import { Group, Select, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { CampaignDetail, RunState, RunSummary } from '@/api/types'
import { formatBytes, formatNumber } from '@/lib/format'
import { sortOf, sortText } from '@/lib/search'
import { RUN_STATES, runStateText } from '@/lib/states'
import { formatDayAndClock, formatDuration, formatMoment, secondsBetween } from '@/lib/time'
import { MBPS_PER_BPS } from '@/lib/units'
import { Allowed } from '@/ui/Allowed'
import { type Column, DataTable } from '@/ui/DataTable'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { RUNS_SHOWN, useRuns } from './queries'
import { CancelRun, RerunFailed, RerunInPlace } from './RunVerbs'
import { countUnwanted, isOpenToReruns, isRepeatable, isStoppable, lastAttempts } from './rerun'
import type { RunsSearch } from './search'
import { UnexpectedMark } from './Unexpected'

interface RunsTabProps {
  campaign: CampaignDetail
  search: RunsSearch
  onSearch: (change: RunsSearch) => void
}

const COLUMNS: Column<RunSummary>[] = [
  {
    id: 'condition',
    accessorKey: 'condition',
    header: 'Run',
    cell: ({ row: { original: run } }) => (
      <Link to="/runs/$runId" params={{ runId: run.id }}>
        {run.condition}, cycle {run.cycle}
        {run.attempt > 1 ? `, attempt ${run.attempt}` : ''}
      </Link>
    ),
  },
  { id: 'link', accessorKey: 'link', header: 'Link', cell: ({ row }) => <Whole>{row.original.link}</Whole> },
  { id: 'cycle', accessorKey: 'cycle', header: 'Cycle' },
  { id: 'attempt', accessorKey: 'attempt', header: 'Attempt' },
  { id: 'state', accessorFn: (run) => RUN_STATES.indexOf(run.state), header: 'State', cell: ({ row }) => <State run={row.original} /> },
  { id: 'due_at', accessorKey: 'due_at', header: 'Due', cell: ({ row }) => <Moment at={row.original.due_at} /> },
  { id: 'started_at', accessorKey: 'started_at', header: 'Started', cell: ({ row }) => <Moment at={row.original.started_at} /> },
  {
    id: 'took',
    accessorFn: (run) => secondsBetween(run.started_at, run.ended_at) ?? -1,
    header: 'Took',
    cell: ({ row }) => <Whole>{formatDuration(secondsBetween(row.original.started_at, row.original.ended_at))}</Whole>,
  },
  {
    id: 'throughput_bps',
    accessorFn: (run) => run.throughput_bps ?? -1,
    header: 'Mb/s',
    cell: ({ row }) => formatNumber(row.original.throughput_bps === null ? null : row.original.throughput_bps * MBPS_PER_BPS),
  },
]

const Whole = ({ children, title }: { children: string; title?: string }) => (
  <span style={{ whiteSpace: 'nowrap' }} title={title}>
    {children}
  </span>
)

const Moment = ({ at }: { at: string | null }) => <Whole title={formatMoment(at)}>{formatDayAndClock(at)}</Whole>

/** The state, and for a run that did not end well the reason in words. */
function State({ run }: { run: RunSummary }) {
  return (
    <>
      <StateBadge state={run.state} label={runStateText(run)} />
      {run.live && run.state === 'running' ? (
        <Text size="xs" c="dimmed">
          {Math.floor(run.live.elapsed_s)} s, {formatBytes(run.live.bytes)}
        </Text>
      ) : null}
      {run.reason ? (
        <Text size="xs" maw={360} mt={2} component="div">
          {run.detail ?? run.reason}
          {run.detail ? (
            <Text span size="xs" c="dimmed">
              {' '}
              {run.reason}
            </Text>
          ) : null}
        </Text>
      ) : null}
      <UnexpectedMark unexpected={run.unexpected} />
    </>
  )
}

/** All runs, every attempt, the failed ones with their reason. */
export function RunsTab({ campaign, search, onSearch }: RunsTabProps) {
  const runs = useRuns(campaign.id)
  return (
    <Panel title="Runs" description="Every attempt. Times are UTC." isFlush actions={<Filters {...{ campaign, search, onSearch }} />}>
      <QueryPanel
        query={runs}
        empty={({ items }) =>
          items.length === 0 ? <Empty title="No runs yet">Launch the campaign: its runs are planned from that moment on.</Empty> : null
        }
      >
        {({ items, total }) => (
          <>
            <Rows items={items} search={search} onSearch={onSearch} campaign={campaign} />
            {total > RUNS_SHOWN ? (
              <Text size="sm" c="dimmed" p="md">
                The first {RUNS_SHOWN} of {total} runs. runs.csv on the Downloads tab has them all.
              </Text>
            ) : null}
          </>
        )}
      </QueryPanel>
    </Panel>
  )
}

function Filters({ campaign, search, onSearch }: RunsTabProps) {
  const states = RUN_STATES.filter((state) => campaign.counts[state] > 0)
  const runs = useRuns(campaign.id)
  const unwanted = isOpenToReruns(campaign) ? countUnwanted(runs.data?.items ?? []) : 0
  return (
    <Group gap="xs">
      {unwanted > 0 ? (
        <Allowed verb="run_campaign" owner={campaign.owner_id}>
          <RerunFailed campaign={campaign} count={unwanted} />
        </Allowed>
      ) : null}
      <Select
        size="xs"
        w={170}
        clearable
        aria-label="Only in state"
        placeholder="All states"
        data={states.map((state) => ({ value: state, label: `${state} (${campaign.counts[state]})` }))}
        value={search.state ?? null}
        onChange={(value) => onSearch({ state: (value as RunState | null) ?? undefined })}
      />
      <Select
        size="xs"
        w={190}
        clearable
        aria-label="Only of condition"
        placeholder="All conditions"
        data={campaign.conditions}
        value={search.condition ?? null}
        onChange={(value) => onSearch({ condition: value ?? undefined })}
      />
    </Group>
  )
}

/** What can be done with a run: stopped before its end, or run again after a bad one. */
function verbsColumn(campaign: CampaignDetail, items: readonly RunSummary[]): Column<RunSummary> {
  const last = lastAttempts(items)
  const isOpen = isOpenToReruns(campaign)
  return {
    id: 'verbs',
    header: '',
    cell: ({ row: { original: run } }) => {
      const isStopped = isOpen && isStoppable(run.state)
      if (!isStopped && !(isOpen && isRepeatable(run.state) && last.has(run.id))) return null
      return (
        <Allowed verb="run_campaign" owner={campaign.owner_id}>
          {isStopped ? (
            <CancelRun run={run} size="compact-xs">
              Cancel
            </CancelRun>
          ) : (
            <RerunInPlace run={run} />
          )}
        </Allowed>
      )
    },
  }
}

function Rows({ items, search, onSearch, campaign }: { items: RunSummary[] } & RunsTabProps) {
  const { state, condition } = search
  const shown = useMemo(
    () => items.filter((run) => (!state || run.state === state) && (!condition || run.condition === condition)),
    [items, state, condition],
  )
  const sorting = useMemo(() => sortOf(search.sort), [search.sort])
  const columns = useMemo(
    () => [...COLUMNS.filter(({ id }) => id !== 'link' || campaign.links.length > 1), verbsColumn(campaign, items)],
    [campaign, items],
  )
  if (shown.length === 0) return <Empty title="No run fits the filters">Clear a filter to see more.</Empty>
  return (
    <DataTable
      label="Runs"
      rows={shown}
      columns={columns}
      sorting={sorting}
      onSortingChange={(next) => onSearch({ sort: sortText(next) })}
    />
  )
}
