import { CursorLayer } from './CursorLayer'
import { MARGIN, pixelOf, plotOf, TIME_AXIS_HEIGHT } from './plot'
import classes from './stacks.module.css'
import { timeTicks } from './ticks'

/** What happened in which steps of a common x: a row of its own, so that it is told without colour. */
export interface EventRow {
  id: string
  label: string
  /** Of each step, from its x to the next one; above 0 it is marked. */
  amounts: readonly number[]
}

interface EventStripProps {
  width: number
  x: readonly number[]
  /** Where the last step ends. */
  end: number
  rows: readonly EventRow[]
  from: number
  to: number
}

const ROW_HEIGHT = 26
const NO_MARKS = () => []

export const eventStripHeight = (rows: number) => MARGIN.top + rows * ROW_HEIGHT + MARGIN.bottom + TIME_AXIS_HEIGHT

/** Rows of marks in line with the charts of their stack. */
export function EventStrip({ width, x, end, rows, from, to }: EventStripProps) {
  const height = eventStripHeight(rows.length)
  const plot = plotOf(width, height, true)
  const toX = (value: number) => pixelOf(value, plot, from, to)
  return (
    <>
      <svg width={width} height={height} className={classes.shares} aria-hidden="true">
        {rows.map(({ id, label, amounts }, row) => {
          const top = plot.top + row * ROW_HEIGHT
          return (
            <g key={id}>
              <text x={plot.left} y={top + 10}>
                {label}
              </text>
              <line x1={plot.left} x2={width - MARGIN.right} y1={top + ROW_HEIGHT - 3} y2={top + ROW_HEIGHT - 3} className={classes.grid} />
              <path d={outline(x, end, amounts, toX, top + 13, top + ROW_HEIGHT - 3)} fill="var(--series-1)" />
            </g>
          )
        })}
        {timeTicks(from, to, width < 420 ? 5 : 10).map((tick) => (
          <text key={tick} x={toX(tick)} y={height - TIME_AXIS_HEIGHT + 12} textAnchor="middle">
            {tick}
          </text>
        ))}
      </svg>
      <CursorLayer plot={plot} from={from} to={to} valuesAt={NO_MARKS} top={1} />
    </>
  )
}

/** One path for all marks; each is at least a pixel and a half wide. */
export function outline(
  x: readonly number[],
  end: number,
  amounts: readonly number[],
  toX: (x: number) => number,
  top: number,
  bottom: number,
): string {
  return amounts
    .map((amount, step) => {
      if (!(amount > 0)) return ''
      const left = toX(x[step] ?? 0)
      const right = Math.max(left + 1.5, toX(x[step + 1] ?? end))
      return `M${left} ${top}H${right}V${bottom}H${left}Z`
    })
    .join('')
}
