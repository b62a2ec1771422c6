import { Button, Group, Table, Text } from '@mantine/core'
import { API } from '@/api/client'
import type { Run, RunFlow } from '@/api/types'
import { formatNumber, NO_VALUE, plural } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'

const HEADS = ['Flow', 'End', 'State', 'Samples', 'Rate', 'Late by, mean', 'Late by, most', 'Download']

/** The raw samples of both ends: how many, how punctual, and the files. */
export function TracesTab({ run }: { run: Run }) {
  return (
    <Panel
      title="Traces"
      description="Every sample as it was taken, unchanged. Lateness is how long after its due moment a sample was read."
      isFlush
    >
      <ScrollTable label="Traces" heads={HEADS}>
        {run.flows.flatMap((flow) =>
          (['sender', 'receiver'] as const).map((end) => <TraceRow key={`${flow.flow} ${end}`} run={run} flow={flow} end={end} />),
        )}
      </ScrollTable>
    </Panel>
  )
}

function TraceRow({ run, flow, end }: { run: Run; flow: RunFlow; end: 'sender' | 'receiver' }) {
  const trace = flow.traces[end]
  const base = `${API}/runs/${run.id}/traces/${flow.flow}/${end}`
  const milliseconds = (value_us: number | null) => (value_us === null ? NO_VALUE : `${formatNumber(value_us / 1000)} ms`)
  return (
    <Table.Tr>
      <Table.Th scope="row">{flow.flow}</Table.Th>
      <Table.Td>{end}</Table.Td>
      <Table.Td>
        {trace.state}
        {trace.missing_chunks.length > 0 ? (
          <Text size="xs" c="red">
            {plural(trace.missing_chunks.length, 'chunk')} missing
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td>{trace.samples.toLocaleString('en-GB')}</Table.Td>
      <Table.Td>{trace.achieved_rate_hz === null ? NO_VALUE : `${formatNumber(trace.achieved_rate_hz)} Hz`}</Table.Td>
      <Table.Td>{milliseconds(trace.lateness_mean_us)}</Table.Td>
      <Table.Td>{milliseconds(trace.lateness_max_us)}</Table.Td>
      <Table.Td>
        {trace.chunks > 0 && trace.state !== 'open' ? (
          <Group gap={6} wrap="nowrap">
            {['parquet', 'csv'].map((kind) => (
              <Button
                key={kind}
                component="a"
                size="compact-xs"
                variant="default"
                href={`${base}.${kind}`}
                download
                aria-label={`Download the trace of flow ${flow.flow} at the ${end} as ${kind}`}
              >
                {kind}
              </Button>
            ))}
          </Group>
        ) : (
          NO_VALUE
        )}
      </Table.Td>
    </Table.Tr>
  )
}
