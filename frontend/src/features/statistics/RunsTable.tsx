import { Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { formatNumber } from '@/lib/format'
import type { Measure } from '@/lib/quantities'
import { ScrollTable } from '@/ui/ScrollTable'
import type { LabelledValues } from './distributions'

/** Every run's value, with the way to the run. */
export function RunsTable({ sides, metric }: { sides: readonly LabelledValues[]; metric: Measure }) {
  return (
    <ScrollTable label={`Single runs: ${metric.title}`} heads={['Run', metric.unit ? `${metric.title}, ${metric.unit}` : metric.title]}>
      {sides.flatMap(({ label, side: { run_ids, cycles, values: own, not_within } }) =>
        run_ids.map((runId, index) => {
          const value = own[index] ?? null
          return (
            <Table.Tr key={runId}>
              <Table.Th scope="row" fw={500}>
                <Link to="/runs/$runId" params={{ runId }}>
                  {label}, cycle {cycles[index]}
                </Link>
              </Table.Th>
              <Table.Td>
                {not_within[index] ? 'not within ' : ''}
                {formatNumber(value === null ? null : value * metric.factor)}
              </Table.Td>
            </Table.Tr>
          )
        }),
      )}
    </ScrollTable>
  )
}
