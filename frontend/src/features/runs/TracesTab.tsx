import { Button, Group, Text } from '@mantine/core'
import { API } from '@/api/client'
import type { Run, RunFlow } from '@/api/types'
import { formatNumber, NO_VALUE, plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { type StackedRow, StackedTable } from '@/ui/StackedTable'

const HEADS = ['Flow', 'End', 'State', 'Samples', 'Rate', 'Late by, mean', 'Late by, most', 'Download']

/** The raw samples of both ends: how many, how punctual, and the files. */
export function TracesTab({ run }: { run: Run }) {
  return (
    <Panel
      title="Traces"
      description={
        run.traces_removed_at
          ? `The samples were removed at ${formatMoment(run.traces_removed_at)}: the run’s numbers were computed before, stay, and cannot be computed again.`
          : 'Every sample as it was taken, unchanged. Lateness is how long after its due moment a sample was read.'
      }
      isFlush
    >
      <StackedTable
        label="Traces"
        heads={HEADS}
        rows={run.flows.flatMap((flow) => (['sender', 'receiver'] as const).map((end) => traceRow(run, flow, end)))}
      />
    </Panel>
  )
}

const milliseconds = (value_us: number | null) => (value_us === null ? NO_VALUE : `${formatNumber(value_us / 1000)} ms`)

function traceRow(run: Run, flow: RunFlow, end: 'sender' | 'receiver'): StackedRow {
  const trace = flow.traces[end]
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

function TraceState({ trace: { state, missing_chunks } }: { trace: RunFlow['traces']['sender'] }) {
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

function TraceFiles({ run, flow, end }: { run: Run; flow: RunFlow; end: 'sender' | 'receiver' }) {
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
