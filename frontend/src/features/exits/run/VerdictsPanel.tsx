import { Table, Text } from '@mantine/core'
import type { FlowExits } from '@/api/types'
import { MarkGlyph } from '@/charts/MarkGlyph'
import { formatNumber, NO_VALUE } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { StateBadge } from '@/ui/StateBadge'
import { type Judged, judgedOf, seconds, undecidable } from './exits'
import classes from './exits.module.css'

const HEADS = [
  ['Detector', 'start'],
  ['Exit, s', 'right'],
  ['cwnd, segments', 'right'],
  ['Timing', 'start'],
  ['Why', 'start'],
  ['Version', 'start'],
] as const

/** Every detector in words: when, with which window, early or late, and why. */
export function VerdictsPanel({ flow }: { flow: FlowExits }) {
  const judged = judgedOf(flow)
  return (
    <Panel
      title="Verdicts"
      description="Early: before capacity was reached. Good: after it and before the first loss. Late: at or after the first loss. Open: no exit and no loss. A modelled window is what slow start would have reached with these ACKs; the flow itself had left slow start, and its own window differs."
      isFlush
    >
      <ScrollTable label="Verdicts of all detectors">
        <Table.Thead>
          <Table.Tr>
            {HEADS.map(([head, side]) => (
              <Table.Th key={head} scope="col" ta={side}>
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {judged
            .filter(({ verdict }) => verdict.is_decidable)
            .map((one) => (
              <Row key={one.look.key} {...one} />
            ))}
        </Table.Tbody>
      </ScrollTable>
      {[...undecidable(judged)].map(([reason, names]) => (
        <Text key={reason} size="sm" px="md" py="sm" className={classes.undecidable}>
          <strong>{names.join('; ')}:</strong> {reason}.
        </Text>
      ))}
    </Panel>
  )
}

function Row({ look, verdict }: Judged) {
  const parameters = Object.entries(verdict.parameters).map(([name, value]) => `${name}=${String(value)}`)
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={550}>
        <svg width={10} height={10} aria-hidden="true" style={{ marginInlineEnd: 8 }}>
          <MarkGlyph glyph={look.glyph} style={look.style} />
        </svg>
        {look.name}{' '}
        <Text span size="xs" c="dimmed">
          {look.code}
        </Text>
      </Table.Th>
      <Table.Td ta="right">{verdict.exit_us === null ? NO_VALUE : formatNumber(seconds(verdict.exit_us), 3)}</Table.Td>
      <Table.Td ta="right">
        {formatNumber(verdict.cwnd_segments, 0)}
        {verdict.cwnd_source === 'modelled' ? (
          <Text size="xs" c="dimmed">
            modelled
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td>{verdict.timing ? <StateBadge state={verdict.timing} /> : verdict.is_decidable ? NO_VALUE : 'not decidable'}</Table.Td>
      <Table.Td miw={340} style={{ whiteSpace: 'normal' }}>
        {verdict.reason}
        {parameters.length > 0 ? (
          <Text size="xs" c="dimmed">
            {parameters.join(', ')}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td>{verdict.version}</Table.Td>
    </Table.Tr>
  )
}
