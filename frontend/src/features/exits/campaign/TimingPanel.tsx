import { Table } from '@mantine/core'
import type { ExitGroup } from '@/api/types'
import { LayerSwatch } from '@/charts/layers'
import { MarkGlyph } from '@/charts/MarkGlyph'
import { SaveMenu } from '@/charts/SaveMenu'
import { ShareBar } from '@/charts/ShareBar'
import type { Source } from '@/lib/captions'
import { NO_VALUE } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { timingFigure } from './figures'
import { basesText, type LookedAt, PERCENT, shareText, TIMINGS } from './groups'

interface TimingPanelProps {
  shown: LookedAt[]
  bases: ExitGroup['bases']
  group: string
  source: Source
}

/** How often each detector was early, good or late. */
export function TimingPanel({ shown: all, bases, group, source }: TimingPanelProps) {
  const shown = all.filter(({ exits }) => exits.detector !== 'first_loss')
  return (
    <Panel
      title="Early, good or late"
      description={`Early: before capacity was reached. Good: after it and before the first loss. Late: at or after the first loss. Open: no exit and no loss. Shares of the decidable runs with Wilson's 95 % interval. ${basesText(bases)}`}
      actions={<SaveMenu what="Early, good or late" figure={() => timingFigure(shown, group, bases, source)} />}
      isFlush
    >
      <ScrollTable label="Shares of early, good, late and open exits per detector">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Detector</Table.Th>
            <Table.Td />
            {TIMINGS.map((timing, layer) => (
              <Table.Th key={timing} scope="col">
                <LayerSwatch layer={layer} />
                {timing}
              </Table.Th>
            ))}
            <Table.Th scope="col" ta="right">
              n
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Not decidable
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((one) => (
            <Row key={one.look.key} {...one} />
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}

function Row({ look, exits: { shares, undecidable } }: LookedAt) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={550}>
        <svg width={10} height={10} aria-hidden="true" style={{ marginInlineEnd: 8 }}>
          <MarkGlyph glyph={look.glyph} style={look.style} />
        </svg>
        {look.name}
      </Table.Th>
      <Table.Td>{shares ? <ShareBar shares={TIMINGS.map((timing) => shares[timing].value)} width={160} /> : null}</Table.Td>
      {TIMINGS.map((timing) => (
        <Table.Td key={timing}>{shares ? shareText(shares[timing], PERCENT) : NO_VALUE}</Table.Td>
      ))}
      <Table.Td ta="right">{shares?.good.n ?? 0}</Table.Td>
      <Table.Td ta="right">{undecidable}</Table.Td>
    </Table.Tr>
  )
}
