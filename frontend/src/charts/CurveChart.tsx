import { useMemo } from 'react'
import { ComposedChart, Line, ReferenceLine } from 'recharts'
import { axes, type Window, windowAreas } from './axes'
import type { Level } from './axis'
import { CursorLayer } from './CursorLayer'
import classes from './charts.module.css'
import { type Curve, curveBounds, curveRows, valueAt } from './curves'
import { MarkLines } from './MarkStrip'
import type { Mark } from './marks'
import { seriesStyle } from './palette'
import { MARGIN, plotOf } from './plot'
import { fineTicks, valueScale } from './ticks'

export interface CurveChartProps {
  width: number
  height: number
  x: readonly number[]
  curves: readonly Curve[]
  from: number
  to: number
  /** Shown unit per API unit. */
  factor: number
  hasTimeAxis: boolean
  isStepped?: boolean | undefined
  /** Horizontal lines in API units; the axis reaches them. */
  levels?: readonly Level[] | undefined
  /** The axis goes no further down and up than this, in API units; what lies beyond is cut off. */
  reach?: readonly [number, number] | undefined
  windows?: readonly Window[] | undefined
  areWindowsNamed?: boolean | undefined
  marks?: readonly Mark[] | undefined
  /** Called with the stretch that was dragged over with the mouse. */
  onZoom?: ((from: number, to: number) => void) | undefined
}

const WINDOW_LABEL = { position: 'insideTop', fontSize: 10.5, fill: 'var(--chart-text)' } as const
const NONE: readonly never[] = []
const EVERYTHING = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const

/** Lines over irregular x, with horizontal levels, shaded windows, vertical marks, and the cursor of its stack. */
export function CurveChart(props: CurveChartProps) {
  const { width, height, x, curves, from, to, factor, hasTimeAxis, levels = NONE, windows = NONE, marks = NONE, reach = EVERYTHING } = props
  const rows = useMemo(() => curveRows(x, curves, factor), [x, curves, factor])
  const scale = useMemo(() => {
    const [low, high] = curveBounds(x, curves, from, to) ?? [0, 0]
    const top = Math.min(reach[1], Math.max(high, ...levels.map(({ value }) => value)))
    return valueScale(top * factor, 5, Math.max(reach[0], low) * factor)
  }, [x, curves, from, to, factor, levels, reach])
  const plot = plotOf(width, height, hasTimeAxis)
  const valuesAt = (at: number) =>
    curves.map(({ id, style, y }) => {
      const value = valueAt(x, y, at)
      return { id, style, value: value === null ? null : value * factor }
    })
  return (
    <>
      <ComposedChart
        width={width}
        height={height}
        data={rows}
        margin={{ ...MARGIN, left: 0 }}
        accessibilityLayer={false}
        className={classes.chart}
      >
        {windowAreas(windows, from, to, ({ label }) => (props.areWindowsNamed ? { value: label, ...WINDOW_LABEL } : undefined))}
        {axes({ from, to, ticks: fineTicks(from, to, width < 420 ? 5 : 10), scale, hasTimeAxis })}
        {levels.map(({ value, label }) => (
          <ReferenceLine
            key={label}
            y={value * factor}
            stroke="var(--chart-level)"
            strokeDasharray="4 4"
            label={{ value: label, position: 'insideBottomLeft', fontSize: 10.5, fill: 'var(--chart-text)' }}
          />
        ))}
        {curves.map(({ id, style }, index) => (
          <Line
            key={id}
            dataKey={`y_${index}`}
            type={props.isStepped ? 'stepAfter' : 'linear'}
            stroke={seriesStyle(style).color}
            strokeWidth={1.8}
            strokeDasharray={seriesStyle(style).dash}
            dot={false}
            connectNulls={false}
            isAnimationActive={false}
            activeDot={false}
          />
        ))}
      </ComposedChart>
      <MarkLines marks={marks} {...{ from, to, width }} height={plot.top + plot.height} />
      <CursorLayer {...{ plot, from, to, valuesAt }} bottom={scale.min} top={scale.max} step={cursorStep(from, to)} onSpan={props.onZoom} />
    </>
  )
}

/** How far the cursor moves at least: a power of ten, some hundreds of steps wide. */
export function cursorStep(from: number, to: number): number {
  return 10 ** Math.floor(Math.log10((to - from) / 100))
}
