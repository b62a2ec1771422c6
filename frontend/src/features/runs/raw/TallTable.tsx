import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import type { SampledColumn, SampledField } from '@/api/types'
import { writtenOut } from '@/lib/format'
import { ScrollBox } from '@/ui/ScrollBox'

interface TallTableProps {
  label: string
  heads: readonly string[]
  children: ReactNode
}

/** A table that scrolls in its place. */
export function TallTable({ label, heads, children }: TallTableProps) {
  return (
    <ScrollBox label={label}>
      <Table stickyHeader withRowBorders={false} striped verticalSpacing={3} fz="xs" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </ScrollBox>
  )
}

/** The samples that a chart draws, in the unit of the list of fields. */
export function SampleTable({ field: { name, unit }, column, point }: { field: SampledField; column: SampledColumn; point: string }) {
  return (
    <TallTable label={`Samples of ${name} at the ${point}`} heads={['Time, s', `${name}, ${unit}`]}>
      {column.time_us.map((at_us, place) => (
        <Table.Tr key={at_us}>
          <Table.Th scope="row">{(at_us / 1e6).toFixed(6)}</Table.Th>
          <Table.Td>{column.values[place] == null ? 'not set' : writtenOut(column.values[place] ?? 0, 0)}</Table.Td>
        </Table.Tr>
      ))}
    </TallTable>
  )
}
