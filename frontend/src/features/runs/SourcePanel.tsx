import { Alert, List, Table, Text } from '@mantine/core'
import type { Run } from '@/api/types'
import { formatNumber, formatRate } from '@/lib/format'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'

type Source = NonNullable<Run['import_source']>

/** The file that an imported run was made of, and what its tool says of the test. */
export function SourcePanel({ source }: { source: Source }) {
  return (
    <Panel title="Imported from a file">
      <Facts
        items={[
          ['File', source.file],
          ['Kind', source.source],
          ...(source.test ? ([['Test', source.test]] as const) : []),
          ['SHA-256', <code key="hash">{source.sha256}</code>],
        ]}
      />
      {source.partial?.length ? <Partial parts={source.partial} /> : null}
      {source.summaries.length > 0 ? <Totals source={source} /> : null}
    </Panel>
  )
}

/** What of the file is in no number of this page. */
function Partial({ parts }: { parts: readonly string[] }) {
  return (
    <Alert color="yellow" mt="md" title="Partial: parts of the file cannot be used">
      <List size="sm">
        {parts.map((part) => (
          <List.Item key={part}>{part}</List.Item>
        ))}
      </List>
    </Alert>
  )
}

const HEADS = ['All flows', 'Sent', 'Received (goodput)', 'Retransmitted segments', 'Over']

/** The tool's numbers, so that they can be found again beside ours, which are defined differently. */
function Totals({ source }: { source: Source }) {
  const tool = source.source
  return (
    <>
      <ScrollTable label={`Totals of ${tool}`} aria-label={`Totals of ${tool}`} mt="md" heads={HEADS}>
        {source.summaries.map((one) => (
          <Table.Tr key={one.direction}>
            <Table.Th scope="row" fw={500}>
              {tool}, {one.direction}
            </Table.Th>
            <Table.Td>{formatRate(one.sent_bps)}</Table.Td>
            <Table.Td>{formatRate(one.received_bps)}</Table.Td>
            <Table.Td>{formatNumber(one.retransmitted_segments, 0)}</Table.Td>
            <Table.Td>{spanOf(one)}</Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
      <Text size="xs" c="dimmed" mt={6}>
        As {tool} printed them. Our numbers below count from the first byte, and what a sender's program wrote runs ahead of the network.
      </Text>
    </>
  )
}

function spanOf({ duration_s, omitted_s }: Source['summaries'][number]): string {
  const over = `${formatNumber(duration_s, 1)} s`
  return omitted_s ? `${over}, without the first ${formatNumber(omitted_s, 1)} s` : over
}
