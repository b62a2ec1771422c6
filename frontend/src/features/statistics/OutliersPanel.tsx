import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Outlier } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { MEASURES, phaseTitle } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { type StackedRow, StackedTable } from '@/ui/StackedTable'
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
  return <StackedTable label="Outliers" heads={HEADS} rows={outliers.map(rowOf)} />
}

function rowOf(one: Outlier): StackedRow {
  const metric = MEASURES.find(({ name }) => name === one.metric)
  const shown = (value: number) => `${formatNumber(value * (metric?.factor ?? 1))} ${metric?.unit ?? ''}`
  return {
    key: `${one.run_id} ${one.flow} ${one.phase} ${one.metric}`,
    cells: [
      <Link key="run" to="/runs/$runId" params={{ runId: one.run_id }}>
        {one.condition}, cycle {one.cycle}
      </Link>,
      one.link,
      one.flow,
      phaseTitle(one.phase),
      metric?.title ?? one.metric,
      shown(one.value),
      shown(one.median),
      offText(one),
    ],
  }
}
