import { Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Compared, ComparedSide } from '@/api/types'
import { ForestChart } from '@/charts/ForestChart'
import { Frame } from '@/charts/Frame'
import { SCREEN } from '@/charts/plot'
import { forestHeight } from '@/charts/rowShapes'
import type { Source } from '@/lib/captions'
import { intervalText } from '@/lib/comparisons'
import { formatEstimate, formatSigned } from '@/lib/format'
import { type Measure, phaseTitle } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import classes from '@/ui/ui.module.css'
import { type Against, against, effectSentence, rowsOf, unpairedFigure, withinSentence } from './compared'

interface UnpairedPanelProps {
  compared: Compared
  measure: Measure
  sides: readonly ComparedSide[]
  labels: readonly string[]
  /** Its place among the sides. */
  base: number
  source: Source
}

/** How much each side differs from the baseline in one quantity, without pairs and without a test. */
export function UnpairedPanel({ compared, measure, sides, labels, base, source }: UnpairedPanelProps) {
  const baseline = labels[base] ?? ''
  const shown = against(compared, labels)
  const rows = rowsOf(shown, measure.factor)
  return (
    <Panel
      title={`${measure.title}, ${phaseTitle(compared.phase).toLowerCase()}: difference to ${baseline}`}
      description={`Mean over runs minus the baseline's, with Welch's 95 % interval: runs of different campaigns share no cycles, so they are not paired, and nothing is tested. Times: ratio of geometric means. ${withinSentence(compared)}`}
      isFlush
    >
      <Frame
        title="Difference"
        unit={measure.unit}
        height={forestHeight(rows.length, SCREEN)}
        table={() => <Numbers {...{ shown, measure }} />}
        figure={() => unpairedFigure({ compared, labels, baseline, measure, source })}
      >
        {(width) => <ForestChart rows={rows} width={width} />}
      </Frame>
      <ul className={classes.sentences}>
        {shown.map((one) => (
          <li key={one.label}>
            <strong>{one.label}:</strong> {effectSentence(one, measure)} <Paired one={sides[one.index]} base={sides[base]} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Two conditions of a campaign on a link have cycles in common. */
function Paired({ one, base }: { one: ComparedSide | undefined; base: ComparedSide | undefined }) {
  if (!one || !base || one.campaign_id !== base.campaign_id || one.link !== base.link || one.condition === base.condition) return null
  return (
    <Link
      to="/campaigns/$campaignId"
      params={{ campaignId: one.campaign_id }}
      search={{ tab: 'statistics', baseline: base.condition, link: one.link }}
    >
      Compare them cycle by cycle
    </Link>
  )
}

function Numbers({ shown, measure: { unit, factor } }: { shown: readonly Against[]; measure: Measure }) {
  return (
    <ScrollTable
      label={`Differences, ${unit}`}
      heads={['Compared', `Difference, ${unit}`, '95 % interval', 'Times', 'n', 'n of the baseline']}
    >
      {shown.map(({ label, difference, ratio }) => (
        <Table.Tr key={label}>
          <Table.Th scope="row">{label}</Table.Th>
          <Table.Td>{formatSigned(difference.mean === null ? null : difference.mean * factor)}</Table.Td>
          <Table.Td>{intervalText(difference.low, difference.high, factor)}</Table.Td>
          <Table.Td>{formatEstimate(ratio)}</Table.Td>
          <Table.Td>{difference.n}</Table.Td>
          <Table.Td>{difference.n_base}</Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}
