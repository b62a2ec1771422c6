import { Table } from '@mantine/core'
import { formatNumber } from '@/lib/format'
import { ScrollBox } from '@/ui/ScrollBox'
import type { Curve } from './curves'

interface CurveTableProps {
  caption: string
  xLabel: string
  x: readonly number[]
  curves: readonly Curve[]
  factor: number
  from: number
  to: number
}

/** The numbers of a curve chart between `from` and `to`: one row per x. */
export function CurveTable({ caption, xLabel, x, curves, factor, from, to }: CurveTableProps) {
  const shown = x.map((at, index) => ({ at, index })).filter(({ at }) => at >= from && at <= to)
  return (
    <ScrollBox label={caption}>
      <Table stickyHeader withRowBorders={false} striped verticalSpacing={2} fz="xs">
        <Table.Caption>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {[xLabel, ...curves.map(({ label }) => label)].map((head) => (
              <Table.Th key={head} scope="col" ta="right">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ at, index }) => (
            <Table.Tr key={at}>
              <Table.Th scope="row" ta="right" fw={400}>
                {formatNumber(at, 3)}
              </Table.Th>
              {curves.map(({ id, y }) => {
                const value = y[index]
                return (
                  <Table.Td key={id} ta="right">
                    {formatNumber(value == null ? null : value * factor)}
                  </Table.Td>
                )
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
