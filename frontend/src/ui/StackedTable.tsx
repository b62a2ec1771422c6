import { Table, type TableProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { ScrollTable } from './ScrollTable'

export interface StackedRow {
  key: string
  /** One for each head; the first says what the row is about. */
  cells: readonly ReactNode[]
}

interface StackedTableProps extends Omit<TableProps, 'children'> {
  label: string
  heads: readonly string[]
  rows: readonly StackedRow[]
  /** Heads of columns that take a whole line of the block on a narrow screen: sentences and bars. */
  whole?: readonly string[]
}

/** A table of words and numbers, a row's values one below the other on a narrow screen: none of them is out of sight there. */
export function StackedTable({ label, heads, rows, whole = [], ...table }: StackedTableProps) {
  return (
    <ScrollTable label={label} heads={heads} role="table" data-stacks {...table}>
      {rows.map(({ key, cells: [about, ...values] }) => (
        // Roles are said aloud: stacked rows and cells are no table boxes, and browsers then drop their roles.
        <Table.Tr key={key} role="row">
          <Table.Th scope="row" role="rowheader" fw={500}>
            {about}
          </Table.Th>
          {values.map((value, index) => (
            <Table.Td
              key={heads[index + 1]}
              role="cell"
              data-label={heads[index + 1]}
              data-whole={whole.includes(heads[index + 1] ?? '') || undefined}
            >
              {value}
            </Table.Td>
          ))}
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}
