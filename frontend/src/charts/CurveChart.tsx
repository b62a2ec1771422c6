import { useMemo } from 'react'
import { ComposedChart, Line, ReferenceDot, ReferenceLine } from 'recharts'
import { CursorLayer } from './CursorLayer'
import { besidePoint, type CurveBox, curveScale, curveTicks } from './chartShapes'
import classes from './charts.module.css'
import { type CurvePoint, curveRows, valueAt } from './curves'
import { FADED } from './Drawing'
import { seriesStyle } from './palette'
import { MARGIN, type Plot, plotOf, SCREEN } from './plot'
import { axes, windowAreas } from './rechartsAxes'

export interface CurveChartProps extends Omit<CurveBox, 'look'> {
  /** Called with the stretch that was dragged over with the mouse. */
  onZoom?: ((from: number, to: number) => void) | undefined
  /** A curve that is picked out by its id; the others fade. */
  picked?: string | null | undefined
}

/** Lines over irregular x, with horizontal levels, shaded windows, vertical marks, named points, and the cursor of its stack. */
export function CurveChart({ onZoom, picked = null, ...box }: CurveChartProps) {
  const {
    width,
    height,
    x,
    curves,
    from,
    to,
    factor,
    hasTimeAxis,
    isStepped,
    levels = [],
    windows = [],
    areWindowsNamed,
    marks = [],
    points = [],
  } = box
  const rows = useMemo(() => curveRows(x, curves, factor), [x, curves, factor])
  const scale = curveScale({ ...box, look: SCREEN })
  const plot = plotOf(width, height, hasTimeAxis, areWindowsNamed)
  const valuesAt = (at: number) =>
    curves.map(({ id, style, y }) => {
      const value = valueAt(x, y, at)
      return { id, style, value: value === null ? null : value * factor }
    })
  return (
    <>
      <ComposedChart
        {...{ width, height }}
        data={rows}
        margin={{ ...MARGIN, top: plot.top, left: 0 }}
        accessibilityLayer={false}
        className={classes.chart}
      >
        {windowAreas(windows, from, to, areWindowsNamed)}
        {axes({ from, to, ticks: curveTicks(from, to, plot, SCREEN), scale, hasTimeAxis })}
        {levels.map(({ value, label }) => (
          <ReferenceLine
            key={label}
            y={value * factor}
            stroke="var(--chart-level)"
            strokeDasharray="4 4"
            label={{ value: label, position: 'insideBottomLeft', fontSize: SCREEN.nameFont, fill: 'var(--chart-text)' }}
          />
        ))}
        {curves.map(({ id, style }, index) => (
          <Line
            key={id}
            dataKey={`y_${index}`}
            type={isStepped ? 'stepAfter' : 'linear'}
            stroke={seriesStyle(style).color}
            strokeWidth={SCREEN.mean * 0.9}
            strokeOpacity={picked !== null && picked !== id ? FADED : 1}
            strokeDasharray={seriesStyle(style).dash}
            dot={false}
            connectNulls={false}
            isAnimationActive={false}
            activeDot={false}
          />
        ))}
        {marks
          .filter((mark) => mark.x >= from && mark.x <= to)
          .map((mark) => (
            <ReferenceLine
              key={mark.id}
              x={mark.x}
              stroke={seriesStyle(mark.style).color}
              strokeWidth={SCREEN.run * 1.5}
              strokeDasharray={seriesStyle(mark.style).dash}
            />
          ))}
        {points.map((point) => (
          <ReferenceDot
            key={point.id}
            x={point.x}
            y={point.y * factor}
            shape={({ cx = 0, cy = 0 }: { cx?: number; cy?: number }) => <Ring {...{ cx, cy, plot }} {...point} />}
          />
        ))}
      </ComposedChart>
      <CursorLayer {...{ plot, from, to, valuesAt }} bottom={scale.min} top={scale.max} step={cursorStep(from, to)} onSpan={onZoom} />
    </>
  )
}

function Ring({ cx, cy, plot, style, text }: Pick<CurvePoint, 'style' | 'text'> & { cx: number; cy: number; plot: Plot }) {
  const { dx, dy, anchor, ground } = besidePoint(text, cx, cy, plot, SCREEN)
  return (
    <g>
      {text ? <path d={ground} fill="var(--surface)" opacity={0.85} /> : null}
      <circle {...{ cx, cy }} r={4} fill="var(--surface)" stroke={seriesStyle(style).color} strokeWidth={SCREEN.mean * 0.8} />
      <text x={cx + dx} y={cy + dy} fontSize={SCREEN.nameFont} fill="var(--chart-text)" textAnchor={anchor}>
        {text}
      </text>
    </g>
  )
}

/** How far the cursor moves at least: a power of ten, some hundreds of steps wide. */
export function cursorStep(from: number, to: number): number {
  return 10 ** Math.floor(Math.log10((to - from) / 100))
}
