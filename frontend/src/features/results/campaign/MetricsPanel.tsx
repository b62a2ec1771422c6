import { SegmentedControl, Table, Text } from '@mantine/core'
import type { PhaseName, Report } from '@/api/types'
import { Swatch } from '@/charts/Swatch'
import { formatEstimate } from '@/lib/format'
import { phaseChoices, phaseTitle } from '@/lib/quantities'
import { Estimate } from '@/ui/Estimate'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { knownMetrics, type LabelledGroup } from './series'

interface MetricsPanelProps {
  groups: LabelledGroup[]
  report: Report
  phase: PhaseName
  onPhase: (phase: PhaseName) => void
}

function phaseSentence(phase: PhaseName, { phases, windows }: Report): string {
  const window = windows.find(({ name }) => name === phase)
  if (window) return `${phaseTitle(phase)}: from ${window.from_s} to ${window.to_s} s of a run.`
  if (phase === 'startup') return `Start-up: the first ${phases.startup_s} s of a run.`
  return phase === 'steady' ? `Steady state: the last ${phases.steady_s} s of a run.` : 'Overall: the whole run.'
}

/** All metrics of one phase, a column per condition. */
export function MetricsPanel({ groups, report, phase, onPhase }: MetricsPanelProps) {
  const { known, unknown } = knownMetrics(groups)
  return (
    <Panel
      title="Metrics by phase"
      description={`${phaseSentence(phase, report)} Mean over runs with its 95 % confidence interval.`}
      isFlush
      actions={<SegmentedControl size="xs" aria-label="Phase" value={phase} onChange={onPhase} data={phaseChoices(report.windows)} />}
    >
      <ScrollTable label={`Metrics, ${phaseTitle(phase)}`} data-wraps>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Metric</Table.Th>
            {groups.map(({ label, style, group }) => (
              <Table.Th key={label} scope="col" ta="right">
                <Swatch style={style} /> {label} (n = {group.runs})
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {known.map((metric) => (
            <Table.Tr key={metric.name}>
              <Table.Th scope="row" fw={500}>
                {metric.title}, {metric.unit}
              </Table.Th>
              {groups.map(({ label, group }) => (
                <Table.Td key={label} ta="right">
                  <Estimate text={formatEstimate(group.metrics[phase]?.[metric.name], metric.factor)} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
      {unknown.length > 0 ? (
        <Text size="sm" c="dimmed" px="md" py="sm">
          Not available for any run: {unknown.join(', ').toLowerCase().replace('rtt', 'RTT')}.
        </Text>
      ) : null}
    </Panel>
  )
}
