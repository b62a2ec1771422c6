import { Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { momentText, secondsOf } from '@/charts/clock'
import { formatNumber, NO_VALUE } from '@/lib/format'
import { ScrollBox } from '@/ui/ScrollBox'
import type { DayMetric, Strip } from './day'

/** Every run of a strip with its value, or with what became of it. */
export function DayTable({ strip, metric }: { strip: Strip; metric: DayMetric }) {
  const caption = `${metric.title} of every run, ${metric.unit}`
  return (
    <ScrollBox label={caption}>
      <Table data-matters={metric.title} stickyHeader withRowBorders={false} striped verticalSpacing={2} fz="xs">
        <Table.Caption>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {['Run', 'UTC', 'State', metric.title].map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {strip.runs.map((run) => (
            <Table.Tr key={run.id}>
              <Table.Th scope="row" fw={400}>
                <Link to="/runs/$runId" params={{ runId: run.id }}>
                  {run.condition}, cycle {run.cycle}
                </Link>
              </Table.Th>
              <Table.Td>{momentText(secondsOf(run.at))}</Table.Td>
              <Table.Td>{run.state}</Table.Td>
              <Table.Td>
                {run.values.length > 0 ? run.values.map(({ value }) => formatNumber(value * metric.factor)).join(', ') : NO_VALUE}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
