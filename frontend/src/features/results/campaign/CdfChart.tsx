import { Table, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { CursorSlider } from '@/charts/CursorSlider'
import { CurveChart, cursorStep } from '@/charts/CurveChart'
import { CurveTable } from '@/charts/CurveTable'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import type { Figure } from '@/charts/figure'
import { SeriesNames } from '@/charts/SeriesNames'
import { Swatch } from '@/charts/Swatch'
import { ScrollBox } from '@/ui/ScrollBox'
import { type CdfRow, cdfCurves, type PublishedShare } from './cdf'

const REACH = [0, 100] as const
const HEIGHT = 260

interface CdfChartProps {
  rows: readonly CdfRow[]
  shares: readonly number[]
  published: readonly PublishedShare[]
  title: string
  /** What each value is of, as in “% of the blocks”. */
  counted: string
  /** What the values are. */
  axis: string
  unit: string
  figure: () => Promise<Figure>
}

/** Cumulative shares of each condition, with what was published of them. Nothing where no condition has a value. */
export function CdfChart({ rows, shares, published, title, counted, axis, unit, figure }: CdfChartProps) {
  const [picked, setPicked] = useState<string | null>(null)
  const { from, to, x, curves, points } = useMemo(() => cdfCurves(rows, shares, published), [rows, shares, published])
  if (curves.length === 0) return null
  const shared = { x, curves, from, to, factor: 1 }
  const share = `% of the ${counted}, up to here`
  return (
    <CursorProvider>
      <SeriesNames series={curves} onPick={setPicked} />
      <CursorSlider from={from} to={to} unit={unit} step={cursorStep(from, to)} />
      <Frame
        title="Cumulative distribution"
        unit={share}
        height={HEIGHT}
        figure={figure}
        table={() => <CurveTable caption={`${title}: ${share}`} xLabel={unit} {...shared} />}
      >
        {(width) => <CurveChart {...shared} {...{ width, picked, points }} height={HEIGHT} reach={REACH} hasTimeAxis isStepped />}
      </Frame>
      <Text size="xs" c="dimmed" ta="center" px="md" pb="sm">
        {axis}, {unit}
      </Text>
      {published.length > 0 ? (
        <Text size="sm" px="md" pb="sm">
          Rings: published. {published.map(({ sentence }) => sentence).join('; ')}.
        </Text>
      ) : null}
    </CursorProvider>
  )
}

interface CdfNumbersProps {
  label: string
  caption: string
  heads: readonly string[]
  rows: readonly { label: string; style: number; cells: readonly string[] }[]
}

/** The numbers of each condition below its curve. */
export function CdfNumbers({ label, caption, heads, rows }: CdfNumbersProps) {
  return (
    <ScrollBox label={label}>
      <Table>
        <Table.Caption>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Condition</Table.Th>
            {heads.map((head) => (
              <Table.Th key={head} scope="col" ta="right">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ label, style, cells }) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" fw={400}>
                <Swatch style={style} /> {label}
              </Table.Th>
              {cells.map((cell, index) => (
                <Table.Td key={heads[index]} ta="right">
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
