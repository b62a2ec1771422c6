import { Button, Group, Text } from '@mantine/core'
import { API } from '@/api/client'
import type { Run, RunFlow } from '@/api/types'
import { formatNumber, NO_VALUE, plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { type StackedRow, StackedTable } from '@/ui/StackedTable'

const HEADS = ['Flow', 'End', 'State', 'Samples', 'Rate', 'Late by, mean', 'Late by, most', 'Download']

/** The raw samples of both ends and of relays: how many, how punctual, and the files. */
export function TracesTab({ run }: { run: Run }) {
  return (
    <Panel
      title="Traces"
      description={
        run.traces_removed_at
          ? `The samples were removed at ${formatMoment(run.traces_removed_at)}: the run’s numbers stay but cannot be recomputed.`
          : 'Every sample, unchanged. Lateness is the delay of a sample behind its due time.'
      }
      isFlush
    >
      <StackedTable
        label="Traces"
        heads={HEADS}
        rows={run.flows.flatMap((flow) => tracesOf(flow).map(([end, trace]) => traceRow(run, flow, end, trace)))}
      />
    </Panel>
  )
}

const milliseconds = (value_us: number | null) => (value_us === null ? NO_VALUE : `${formatNumber(value_us / 1000)} ms`)

type Trace = RunFlow['traces']['sender']

/** From the sender over the relays to the receiver, then the halves of a delivery table, and the table of an emulated link’s sites. */
function tracesOf({ traces, hops = [], delivery, sites }: RunFlow): [string, Trace][] {
  const halves = (['sent', 'delivered'] as const).flatMap((half): [string, Trace][] => (delivery?.[half] ? [[half, delivery[half]]] : []))
  return [
    ['sender', traces.sender],
    ...hops.map(({ point, trace }): [string, Trace] => [point, trace]),
    ['receiver', traces.receiver],
    ...halves,
    ...(sites ? [['sites', sites] as [string, Trace]] : []),
  ]
}

function traceRow(run: Run, flow: RunFlow, end: string, trace: Trace): StackedRow {
  return {
    key: `${flow.flow} ${end}`,
    cells: [
      `Flow ${flow.flow}`,
      end,
      <TraceState key="state" trace={trace} />,
      trace.samples.toLocaleString('en-GB'),
      trace.achieved_rate_hz === null ? NO_VALUE : `${formatNumber(trace.achieved_rate_hz)} Hz`,
      milliseconds(trace.lateness_mean_us),
      milliseconds(trace.lateness_max_us),
      trace.chunks > 0 && trace.state !== 'open' && trace.state !== 'removed' ? (
        <TraceFiles key="files" run={run} flow={flow} end={end} />
      ) : (
        NO_VALUE
      ),
    ],
  }
}

function TraceState({ trace: { state, missing_chunks } }: { trace: Trace }) {
  return (
    <>
      {state}
      {missing_chunks.length > 0 ? (
        <Text size="xs" c="red">
          {plural(missing_chunks.length, 'chunk')} missing
        </Text>
      ) : null}
    </>
  )
}

function TraceFiles({ run, flow, end }: { run: Run; flow: RunFlow; end: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      {['parquet', 'csv'].map((kind) => (
        <Button
          key={kind}
          component="a"
          size="compact-xs"
          variant="default"
          href={`${API}/runs/${run.id}/traces/${flow.flow}/${end}.${kind}`}
          download
          aria-label={`Download the trace of flow ${flow.flow} at the ${end} as ${kind}`}
        >
          {kind}
        </Button>
      ))}
    </Group>
  )
}
