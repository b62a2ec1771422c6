import { Table, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import type { Comparison, PhaseName } from '@/api/types'
import { IntervalMark } from '@/charts/IntervalMark'
import { Swatch } from '@/charts/Swatch'
import { cycleRatio, intervalText, isShown, ratioText, readingText } from '@/lib/comparisons'
import { formatEstimate, formatNumber, formatSigned, NO_VALUE } from '@/lib/format'
import { METRICS, phaseTitle } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { knownMetrics, type LabelledGroup } from './series'

interface ComparisonsPanelProps {
  comparisons: Comparison[]
  groups: readonly LabelledGroup[]
  phase: PhaseName
  /** Chooses the baseline. */
  actions: ReactNode
}

const HEADS = ['Metric', 'Difference', 'Reading', '95 % interval', '', 'Ratio', 'Bootstrap', 'Cycles']
const place = (metric: string) => METRICS.findIndex((one) => one.name === metric)

/** Paired differences between conditions, cycle by cycle: the pair once, its metrics below it. */
export function ComparisonsPanel({ comparisons, groups, phase, actions }: ComparisonsPanelProps) {
  // Of a quantity that no flow has, such as probes where nobody asked for them, there is nothing to compare.
  const known = new Set<string>(knownMetrics(groups).known.map(({ name }) => name))
  const own = comparisons.filter((one) => one.phase === phase && known.has(one.metric))
  if (own.length === 0) return null
  const pairs = groups
    .map((group) => ({ group, rows: own.filter((one) => isOf(one, group)).sort((a, b) => place(a.metric) - place(b.metric)) }))
    .filter(({ rows }) => rows.length > 0)
  return (
    <Panel
      title={`Differences, ${phaseTitle(phase).toLowerCase()}`}
      description={`Each condition minus ${own[0]?.baseline}, cycle by cycle: mean of the differences with its 95 % paired-t interval, and a bootstrap interval beside it. Only the campaign's primary metrics are tested; the Statistics tab says how.`}
      isFlush
      actions={actions}
    >
      <ScrollTable label={`Differences between conditions, ${phaseTitle(phase)}`}>
        <Table.Thead>
          <Table.Tr>
            {HEADS.map((head, index) =>
              head ? (
                <Table.Th key={head} scope="col" ta={index === 0 || index === 2 ? undefined : 'right'}>
                  {head}
                </Table.Th>
              ) : (
                <Table.Td key="mark" />
              ),
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {pairs.map(({ group, rows }) => (
            <Fragment key={group.label}>
              <Table.Tr>
                <Table.Th colSpan={HEADS.length} scope="rowgroup" fw={600}>
                  <Swatch style={group.style} /> {pairTitle(group, rows[0])}
                </Table.Th>
              </Table.Tr>
              {rows.map((one) => (
                <Row key={one.metric} comparison={one} style={group.style} />
              ))}
            </Fragment>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}

const isOf = (one: Comparison, { group }: LabelledGroup) => one.condition === group.condition && one.flow === group.flow

/** "HyStart off − HyStart on", "Cubic against BBR − Cubic: flow 1 (cubic) of each". */
function pairTitle({ label, group }: LabelledGroup, one: Comparison | undefined): string {
  const isShared = label !== group.condition || group.flow > 1
  const pair = `${group.condition} − ${one?.baseline}`
  return isShared ? `${pair}: flow ${group.flow} (${group.cc}) against flow ${group.flow} there` : pair
}

/** "per cycle 1.9 (1.5–2.4)": nothing where no cycle has a ratio. */
function pairedText(one: Comparison): string | null {
  const found = cycleRatio(one)
  return found && found.n > 1 ? `per cycle ${formatEstimate(found, 1, 2)}` : null
}

function Row({ comparison, style }: { comparison: Comparison; style: number }) {
  const { difference, bootstrap_low, bootstrap_high } = comparison
  const metric = METRICS.find((one) => one.name === comparison.metric)
  const factor = metric?.factor ?? 1
  const reach = Math.max(...[difference.mean, difference.low, difference.high].map((value) => Math.abs(value ?? 0))) * 1.1
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {metric ? `${metric.title}, ${metric.unit}` : comparison.metric}
      </Table.Th>
      <Table.Td ta="right">
        <Text span size="sm" fw={600}>
          {formatSigned(difference.mean === null ? null : difference.mean * factor)}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text span size="sm" c={isShown(comparison) ? undefined : 'dimmed'} style={{ whiteSpace: 'nowrap' }}>
          {readingText(comparison)}
        </Text>
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {intervalText(difference.low, difference.high, factor)}
      </Table.Td>
      <Table.Td>
        <IntervalMark
          mean={difference.mean}
          low={difference.low}
          high={difference.high}
          min={-reach}
          max={reach}
          style={style}
          width={90}
        />
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {ratioText(comparison.ratio)}
        <Text size="xs" c="dimmed">
          {pairedText(comparison)}
        </Text>
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {intervalText(bootstrap_low, bootstrap_high, factor)}
      </Table.Td>
      <Table.Td ta="right">{difference.n ? formatNumber(difference.n, 0) : NO_VALUE}</Table.Td>
    </Table.Tr>
  )
}
