import { Table, Text } from '@mantine/core'
import type { Comparison, PhaseName } from '@/api/types'
import { IntervalMark } from '@/charts/IntervalMark'
import { formatNumber, formatSigned, NO_VALUE } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { intervalText, isClear, verdict } from './comparisons'
import { METRICS, PHASE_TITLES } from './series'

interface ComparisonsPanelProps {
  comparisons: Comparison[]
  phase: PhaseName
  styleOf: (condition: string, flow: number) => number
}

/** Paired differences between conditions, cycle by cycle. */
export function ComparisonsPanel({ comparisons, phase, styleOf }: ComparisonsPanelProps) {
  const place = (metric: string) => METRICS.findIndex((one) => one.name === metric)
  const own = comparisons.filter((one) => one.phase === phase).sort((a, b) => place(a.metric) - place(b.metric))
  if (own.length === 0) return null
  const hasFlows = own.some((one) => one.flow > 1)
  return (
    <Panel
      title={`Differences, ${PHASE_TITLES[phase].toLowerCase()}`}
      description="Conditions of one cycle are compared with each other: mean of the differences over cycles with its 95 % paired-t interval, and a bootstrap interval beside it."
      isFlush
    >
      <ScrollTable label={`Differences between conditions, ${PHASE_TITLES[phase]}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Compared</Table.Th>
            <Table.Th scope="col">Metric</Table.Th>
            <Table.Th scope="col" ta="right">
              Difference
            </Table.Th>
            <Table.Th scope="col" ta="right">
              95 % interval
            </Table.Th>
            <Table.Td />
            <Table.Th scope="col" ta="right">
              Bootstrap
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Cycles
            </Table.Th>
            <Table.Th scope="col">Reading</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {own.map((one) => (
            <Row
              key={`${one.condition} ${one.baseline} ${one.flow} ${one.metric}`}
              comparison={one}
              style={styleOf(one.condition, one.flow)}
              hasFlows={hasFlows}
            />
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}

function Row({ comparison, style, hasFlows }: { comparison: Comparison; style: number; hasFlows: boolean }) {
  const { difference, bootstrap_low, bootstrap_high } = comparison
  const metric = METRICS.find((one) => one.name === comparison.metric)
  const factor = metric?.factor ?? 1
  const reach = Math.max(...[difference.mean, difference.low, difference.high].map((value) => Math.abs(value ?? 0))) * 1.1
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {comparison.condition} − {comparison.baseline}
        {hasFlows ? `, flow ${comparison.flow}` : null}
      </Table.Th>
      <Table.Td>{metric ? `${metric.title}, ${metric.unit}` : comparison.metric}</Table.Td>
      <Table.Td ta="right">
        <Text span size="sm" fw={600}>
          {formatSigned(difference.mean === null ? null : difference.mean * factor)}
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
        {intervalText(bootstrap_low, bootstrap_high, factor)}
      </Table.Td>
      <Table.Td ta="right">{difference.n ? formatNumber(difference.n, 0) : NO_VALUE}</Table.Td>
      <Table.Td>
        <Text span size="sm" c={isClear(difference) ? undefined : 'dimmed'} style={{ whiteSpace: 'nowrap' }}>
          {verdict(comparison)}
        </Text>
      </Table.Td>
    </Table.Tr>
  )
}
