import { Table } from '@mantine/core'
import { formatEstimate } from '@/lib/format'
import { ScrollBox } from '@/ui/ScrollBox'
import type { BandSeries } from './bands'
import { readingAt } from './bands'

interface BandTableProps {
  caption: string
  xLabel: string
  series: readonly BandSeries[]
  factor: number
  from: number
  to: number
  /** What x means at 0, 1, 2 …; else its number. */
  xNames?: readonly string[] | undefined
}

/** The numbers of a band chart: one row per x, mean, interval and n for every series. */
export function BandTable({ caption, xLabel, series, factor, from, to, xNames }: BandTableProps) {
  const axis = [...new Set(series.flatMap((one) => one.x))].filter((x) => x >= from && x <= to).sort((a, b) => a - b)
  return (
    <ScrollBox label={caption}>
      <Table stickyHeader withRowBorders={false} striped verticalSpacing={2} fz="xs">
        <Table.Caption>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col" ta="right">
              {xLabel}
            </Table.Th>
            {series.map((one) => (
              <Table.Th key={one.id} scope="col" ta="right">
                {one.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {axis.map((x) => (
            <Table.Tr key={x}>
              <Table.Th scope="row" ta="right" fw={400}>
                {xNames?.[x] ?? x}
              </Table.Th>
              {series.map((one) => {
                const reading = readingAt(one, x)
                return (
                  <Table.Td key={one.id} ta="right">
                    {formatEstimate(reading, factor)}
                    {reading?.n ? <small> n={reading.n}</small> : null}
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
