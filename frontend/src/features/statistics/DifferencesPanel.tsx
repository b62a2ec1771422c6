import { Table } from '@mantine/core'
import type { Comparison } from '@/api/types'
import { ForestChart } from '@/charts/ForestChart'
import { Frame } from '@/charts/Frame'
import { SCREEN } from '@/charts/plot'
import { type ForestRow, forestHeight } from '@/charts/rowShapes'
import type { Source } from '@/lib/captions'
import { cycleRatio, intervalText, readingText } from '@/lib/comparisons'
import { formatEstimate, formatSigned } from '@/lib/format'
import { phaseTitle } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import classes from '@/ui/ui.module.css'
import { differencesFigure } from './figures'
import { effectText, forestRows, namesOf, type Place, powerSentence } from './measures'

interface DifferencesPanelProps {
  place: Place
  shown: readonly Comparison[]
  /** In the campaign's order. */
  conditions: readonly string[]
  source: Source
}

/** The paired differences of one metric with what the cycles so far can show. */
export function DifferencesPanel({ place, shown, conditions, source }: DifferencesPanelProps) {
  const { metric, phase } = place
  const rows = forestRows(shown, metric.factor, conditions)
  const names = namesOf(shown)
  return (
    <Panel
      title={`${metric.title}, ${phaseTitle(phase).toLowerCase()}: difference to ${shown[0]?.baseline ?? 'the first condition'}`}
      description="Mean of the differences within cycles. Thick: 95 % paired-t interval. Thin below it: bootstrap interval. Times: geometric mean of the cycles' ratios with the interval of their logarithms; none where a cycle has no ratio."
      isFlush
    >
      <Frame
        title="Difference"
        unit={metric.unit}
        height={forestHeight(rows.length, SCREEN)}
        table={() => <Numbers {...{ rows, shown }} unit={metric.unit} />}
        figure={() => differencesFigure(place, shown, conditions, source)}
      >
        {(width) => <ForestChart rows={rows} width={width} />}
      </Frame>
      <ul className={classes.sentences}>
        {shown.map((one, index) => (
          <li key={one.condition}>
            <strong>
              {names[index]}: {effectText(one, metric)}, {readingText(one)}.
            </strong>{' '}
            {powerSentence(one, metric)}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Numbers({ rows, shown, unit }: { rows: readonly ForestRow[]; shown: readonly Comparison[]; unit: string }) {
  return (
    <ScrollTable label={`Differences, ${unit}`} heads={['Compared', `Difference, ${unit}`, '95 % interval', 'Bootstrap', 'Times']}>
      {rows.map((row, index) => (
        <Table.Tr key={row.label}>
          <Table.Th scope="row">{row.label}</Table.Th>
          <Table.Td>{formatSigned(row.mean)}</Table.Td>
          <Table.Td>{intervalText(row.low, row.high, 1)}</Table.Td>
          <Table.Td>{intervalText(row.bootstrap_low, row.bootstrap_high, 1)}</Table.Td>
          <Table.Td>{formatEstimate(shown[index] && cycleRatio(shown[index]))}</Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}
