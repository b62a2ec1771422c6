import { Table } from '@mantine/core'
import { formatNumber } from '@/lib/format'
import { ScrollTable } from '@/ui/ScrollTable'
import { clockTicks, momentText, tickText } from './clock'
import { Frame } from './Frame'
import { seriesStyle } from './palette'
import { pathsOf, placer, type QuantityBin, rangeOf, stretchesOf } from './quantity'

const PLOT_PX = 74
const AXIS_PX = 18
const LEFT_PX = 56
const RIGHT_PX = 12
const TOP_PX = 8
const ROWS = 60

interface QuantityStripProps {
  title: string
  unit: string
  note?: string | undefined
  bins: readonly QuantityBin[]
  from_s: number
  to_s: number
  /** A stretch to mark, such as a run. */
  marked?: { from_s: number; to_s: number } | undefined
}

/** What was observed of a link over clock time: the mean as a line, its least and greatest values as a band. */
export function QuantityStrip({ title, unit, note, bins, from_s, to_s, marked }: QuantityStripProps) {
  return (
    <Frame title={title} unit={unit} note={note} height={TOP_PX + PLOT_PX + AXIS_PX} table={() => <Numbers {...{ title, unit, bins }} />}>
      {(width) => <Strip {...{ title, bins, from_s, to_s, marked, width }} />}
    </Frame>
  )
}

function Strip({ title, bins, from_s, to_s, marked, width }: Omit<QuantityStripProps, 'unit' | 'note'> & { width: number }) {
  const box = { left: LEFT_PX, top: TOP_PX, width: Math.max(width - LEFT_PX - RIGHT_PX, 1), height: PLOT_PX }
  const range = rangeOf(bins)
  const place = placer(box, from_s, to_s, range)
  const { color } = seriesStyle(0)
  const bottom = box.top + box.height
  const ticks = clockTicks(from_s, to_s, Math.max(2, Math.min(10, Math.floor(box.width / 90))))
  return (
    <svg
      width={width}
      height={TOP_PX + PLOT_PX + AXIS_PX}
      role="img"
      aria-label={`${title} over time`}
      fontSize={11}
      fill="var(--chart-ink)"
    >
      {marked ? (
        <rect
          x={place.x(Math.max(marked.from_s, from_s))}
          width={Math.max(1, place.x(Math.min(marked.to_s, to_s)) - place.x(Math.max(marked.from_s, from_s)))}
          y={box.top}
          height={box.height}
          fill="var(--chart-note)"
          fillOpacity={0.5}
        />
      ) : null}
      {[range[1], range[0]].map((value) => (
        <g key={value}>
          <line x1={box.left} x2={box.left + box.width} y1={place.y(value)} y2={place.y(value)} stroke="var(--chart-axis)" />
          <text x={box.left - 6} y={place.y(value) + 4} textAnchor="end">
            {formatNumber(value)}
          </text>
        </g>
      ))}
      {ticks.map((at_s) => (
        <text key={at_s} x={place.x(at_s)} y={bottom + 14} textAnchor="middle">
          {tickText(at_s)}
        </text>
      ))}
      {stretchesOf(bins).map((stretch) => {
        const { mean, band } = pathsOf(stretch, place)
        const [first] = stretch
        return (
          <g key={first?.at_s}>
            <path d={band} fill={color} fillOpacity={0.2} />
            <path d={mean} fill="none" stroke={color} strokeWidth={1.5} />
            {stretch.length === 1 && first ? <circle cx={place.x(first.at_s)} cy={place.y(first.mean)} r={2} fill={color} /> : null}
          </g>
        )
      })}
    </svg>
  )
}

/** A table of all bins would be long: some sixty are enough to read. */
function Numbers({ title, unit, bins }: Pick<QuantityStripProps, 'title' | 'unit' | 'bins'>) {
  const every = Math.ceil(bins.length / ROWS)
  return (
    <ScrollTable label={`${title} over time`} heads={['UTC', `Mean, ${unit}`, 'Least', 'Greatest']}>
      {bins
        .filter((_, index) => index % every === 0)
        .map(({ at_s, low, mean, high }) => (
          <Table.Tr key={at_s}>
            <Table.Th scope="row" fw={400}>
              {momentText(at_s)}
            </Table.Th>
            <Table.Td>{formatNumber(mean)}</Table.Td>
            <Table.Td>{formatNumber(low)}</Table.Td>
            <Table.Td>{formatNumber(high)}</Table.Td>
          </Table.Tr>
        ))}
    </ScrollTable>
  )
}
