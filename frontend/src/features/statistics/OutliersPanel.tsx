import { Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Outlier } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { MEASURES, phaseTitle } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { farthestFirst, offText } from './measures'

const LISTED = 50
const HEADS = ['Run', 'Link', 'Flow', 'Phase', 'Metric', 'Value', 'Median', 'Off by']

/** Values that stand out, with the way to their runs. */
export function OutliersPanel({ outliers }: { outliers: readonly Outlier[] }) {
  return (
    <Panel
      title="Outliers"
      description="Flagged, not dropped: every one of these values stays in all statistics. A flag asks you to look at the run: its modified z score is above 3.5 among at least five runs. The farthest come first."
      isFlush
    >
      {outliers.length === 0 ? (
        <Text size="sm" c="dimmed" px="md" pb="md">
          No value stands out from the other runs of its condition. With fewer than five runs nothing is flagged.
        </Text>
      ) : (
        <Listed outliers={farthestFirst(outliers).slice(0, LISTED)} />
      )}
      {outliers.length > LISTED ? (
        <Text size="sm" c="dimmed" p="md">
          The first {LISTED} of {outliers.length}; outliers.csv has them all.
        </Text>
      ) : null}
    </Panel>
  )
}

function Listed({ outliers }: { outliers: readonly Outlier[] }) {
  return (
    <ScrollTable label="Outliers" heads={HEADS}>
      {outliers.map((one) => {
        const metric = MEASURES.find(({ name }) => name === one.metric)
        const shown = (value: number) => `${formatNumber(value * (metric?.factor ?? 1))} ${metric?.unit ?? ''}`
        return (
          <Table.Tr key={`${one.run_id} ${one.flow} ${one.phase} ${one.metric}`}>
            <Table.Th scope="row" fw={500}>
              <Link to="/runs/$runId" params={{ runId: one.run_id }}>
                {one.condition}, cycle {one.cycle}
              </Link>
            </Table.Th>
            <Table.Td>{one.link}</Table.Td>
            <Table.Td>{one.flow}</Table.Td>
            <Table.Td>{phaseTitle(one.phase)}</Table.Td>
            <Table.Td>{metric?.title ?? one.metric}</Table.Td>
            <Table.Td>{shown(one.value)}</Table.Td>
            <Table.Td>{shown(one.median)}</Table.Td>
            <Table.Td>{offText(one)}</Table.Td>
          </Table.Tr>
        )
      })}
    </ScrollTable>
  )
}
