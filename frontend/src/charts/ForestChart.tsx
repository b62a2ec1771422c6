import { seriesStyle } from './palette'
import { spanScale } from './spans'
import classes from './stacks.module.css'

/** A difference with its two intervals, in the shown unit. */
export interface ForestRow {
  label: string
  style: number
  mean: number | null
  low: number | null
  high: number | null
  bootstrap_low: number | null
  bootstrap_high: number | null
}

const ROW = 50
const AXIS = 26
const SIDE = 30
/** Above it stands the row's name. */
const LABEL = 20

export const forestHeight = (rows: number) => rows * ROW + AXIS

/** Differences under each other over one axis with a zero line: thick the t interval, thin below it the bootstrap. */
export function ForestChart({ rows, width }: { rows: readonly ForestRow[]; width: number }) {
  const scale = spanScale(
    rows.flatMap((row) => [row.mean, row.low, row.high, row.bootstrap_low, row.bootstrap_high]),
    width < 420 ? 4 : 8,
  )
  const at = (value: number) => SIDE + ((width - 2 * SIDE) * (value - scale.min)) / (scale.max - scale.min)
  const bottom = rows.length * ROW
  return (
    <svg width={width} height={bottom + AXIS} className={classes.forest} aria-hidden="true">
      {scale.ticks.map((tick) => (
        <g key={tick}>
          {rows.map((row, index) => (
            <path
              key={row.label}
              d={`M${at(tick)} ${index * ROW + LABEL}v${ROW - LABEL}`}
              className={tick === 0 ? classes.zero : classes.grid}
            />
          ))}
          <text x={at(tick)} y={bottom + 16} textAnchor="middle">
            {tick > 0 ? '+' : ''}
            {tick.toLocaleString('en-GB', { maximumFractionDigits: scale.decimals + 1 }).replace('-', '−')}
          </text>
        </g>
      ))}
      {rows.map((row, index) => (
        <g key={row.label} transform={`translate(0 ${index * ROW})`} style={{ color: seriesStyle(row.style).color }}>
          <text x={12} y={15} className={classes.rowLabel}>
            {row.label}
          </text>
          <Interval low={row.low} high={row.high} at={at} y={28} thickness={3} cap={5} />
          <Interval low={row.bootstrap_low} high={row.bootstrap_high} at={at} y={40} thickness={1.5} cap={3} />
          {row.mean === null ? null : <circle cx={at(row.mean)} cy={28} r={5} fill="currentColor" className={classes.mean} />}
        </g>
      ))}
    </svg>
  )
}

interface IntervalProps {
  low: number | null
  high: number | null
  at: (value: number) => number
  y: number
  thickness: number
  cap: number
}

function Interval({ low, high, at, y, thickness, cap }: IntervalProps) {
  if (low === null || high === null) return null
  const [left, right] = [at(low), at(high)]
  return (
    <path
      d={`M${left} ${y - cap}V${y + cap}M${left} ${y}H${right}M${right} ${y - cap}V${y + cap}`}
      stroke="currentColor"
      strokeWidth={thickness}
      fill="none"
    />
  )
}
