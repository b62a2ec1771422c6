import { Table, Text } from '@mantine/core'
import type { Compared } from '@/api/types'
import { Swatch } from '@/charts/Swatch'
import { differenceText } from '@/lib/comparisons'
import { formatEstimate } from '@/lib/format'
import { MEASURES, phaseTitle } from '@/lib/quantities'
import { Estimate } from '@/ui/Estimate'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'

interface MeansPanelProps {
  compared: readonly Compared[]
  labels: readonly string[]
  phase: string
}

/** Every quantity of a phase, a column per side: its mean, and below it what the baseline has less. */
export function MeansPanel({ compared, labels, phase }: MeansPanelProps) {
  const all = MEASURES.flatMap((measure) => {
    const found = compared.find(({ metric }) => metric === measure.name)
    return found ? [{ measure, found }] : []
  })
  const rows = all.filter(({ found }) => knownOf(found) > 1 || labels.length === 1)
  const alone = all.filter((one) => !rows.includes(one)).map(({ measure }) => measure.title)
  return (
    <Panel
      title={`Metrics, ${phaseTitle(phase).toLowerCase()}`}
      description="Mean over runs with its 95 % confidence interval; below it the difference to the baseline with Welch's."
      isFlush
    >
      <ScrollTable label={`Metrics, ${phaseTitle(phase)}`} data-wraps>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Metric</Table.Th>
            {labels.map((label, style) => (
              <Table.Th key={label} scope="col" ta="right">
                <Swatch style={style} /> {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ measure, found }) => (
            <Table.Tr key={measure.name}>
              <Table.Th scope="row" fw={500}>
                {[measure.title, measure.unit].filter(Boolean).join(', ')}
                {found.within_s === null ? '' : ` (up to ${found.within_s} s)`}
              </Table.Th>
              {labels.map((label, index) => (
                <Table.Td key={label} ta="right">
                  <Estimate text={formatEstimate(found.means[index], measure.factor)} />
                  <Difference of={found.differences[index] ?? null} factor={measure.factor} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
      {alone.length > 0 ? (
        <Text size="sm" c="dimmed" px="md" py="sm">
          Available for one side only: {alone.join(', ')}.
        </Text>
      ) : null}
    </Panel>
  )
}

/** How many sides have it. */
const knownOf = ({ means }: Compared) => means.filter(({ mean }) => mean !== null).length

function Difference({ of, factor }: { of: Compared['differences'][number]; factor: number }) {
  if (!of || of.mean === null) return null
  return (
    <Text size="xs" c="dimmed">
      {differenceText(of, { factor, unit: '' })}
    </Text>
  )
}
