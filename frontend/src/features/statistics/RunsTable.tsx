import { Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CampaignValues } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { ScrollTable } from '@/ui/ScrollTable'
import type { Place } from './measures'

/** Every run's value, with the way to the run. */
export function RunsTable({ values, place }: { values: CampaignValues; place: Place }) {
  const { metric, link, flow } = place
  const sides = values.sides.filter((side) => side.link === link && side.flow === flow)
  return (
    <ScrollTable label={`Single runs: ${metric.title}`} heads={['Run', metric.unit ? `${metric.title}, ${metric.unit}` : metric.title]}>
      {sides.flatMap(({ condition, run_ids, cycles, values: own, not_within }) =>
        run_ids.map((runId, index) => {
          const value = own[index] ?? null
          return (
            <Table.Tr key={runId}>
              <Table.Th scope="row" fw={500}>
                <Link to="/runs/$runId" params={{ runId }}>
                  {condition}, cycle {cycles[index]}
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
