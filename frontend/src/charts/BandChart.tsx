import { useMemo } from 'react'
import { Area, ComposedChart, Line, ReferenceDot, ReferenceLine } from 'recharts'
import { type BandSeries, hasRuns, isolatedIndices, mergeBands, readingAt } from './bands'
import { CursorLayer } from './CursorLayer'
import { type BandBox, bandAxis, bandTicks, namesText } from './chartShapes'
import classes from './charts.module.css'
import { FADED } from './Drawing'
import { seriesStyle } from './palette'
import { MARGIN, plotOf, SCREEN } from './plot'
import { axes, windowAreas } from './rechartsAxes'

export interface BandChartProps extends Omit<BandBox, 'look'> {
  /** A series that is picked out by its id; the others fade. */
  picked?: string | null | undefined
}

/** How every line and band of a chart behaves. */
const STILL = { connectNulls: false, isAnimationActive: false, activeDot: false } as const

/** Mean lines with interval bands, or with the single runs where they are few, over a numeric x axis, with a cursor shared by its stack. */
export function BandChart({ picked = null, ...facts }: BandChartProps) {
  const { width, height, series, factor, from, to, hasBands, hasTimeAxis, level, windows = [], areWindowsNamed, published = [] } = facts
  const rows = useMemo(() => mergeBands(series, factor), [series, factor])
  const plot = plotOf(width, height, hasTimeAxis, areWindowsNamed)
  const { scale, isLevelShown } = bandAxis(facts, plot, SCREEN)
  const valuesAt = (x: number) =>
    series.map((one) => {
      const mean = readingAt(one, x)?.mean
      return { id: one.id, style: one.style, value: mean == null ? null : mean * factor }
    })
  const left = (one: BandSeries) => (picked !== null && picked !== one.id ? FADED : 1)
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
        {axes({ from, to, ticks: bandTicks(facts, plot, SCREEN), scale, hasTimeAxis, tickText: namesText(facts.xNames) })}
        {level && isLevelShown ? (
          <ReferenceLine y={level.value * factor} stroke="var(--chart-level)" strokeDasharray="4 4" ifOverflow="hidden" />
        ) : null}
        {hasBands ? series.map((one, index) => (hasRuns(one) ? runLines(one, index, left(one)) : bandArea(one, index, left(one)))) : null}
        {series.map((one, index) => meanLine(one, index, left(one)))}
        {published.map(({ id, x, value, style }) => (
          <ReferenceDot
            key={id}
            {...{ x }}
            y={value * factor}
            r={4}
            fill="var(--surface)"
            stroke={seriesStyle(style).color}
            strokeWidth={SCREEN.mean * 0.8}
            ifOverflow="visible"
          />
        ))}
      </ComposedChart>
      <CursorLayer plot={plot} {...{ from, to, valuesAt }} top={scale.max} />
    </>
  )
}

function bandArea(one: BandSeries, index: number, left: number) {
  return (
    <Area
      key={`band-${one.id}`}
      dataKey={`band_${index}`}
      stroke="none"
      fill={seriesStyle(one.style).color}
      fillOpacity={0.18 * left}
      {...STILL}
    />
  )
}

function runLines(one: BandSeries, index: number, left: number) {
  const { color } = seriesStyle(one.style)
  return one.band.runs?.map((run, k) => (
    <Line
      // biome-ignore lint/suspicious/noArrayIndexKey: the place of a run among the runs is its name
      key={`run-${one.id}-${k}`}
      dataKey={`run_${index}_${k}`}
      stroke={color}
      strokeWidth={SCREEN.run}
      strokeOpacity={0.45 * left}
      dot={isolatedIndices(run).size > 0 ? { r: 1, fill: color, strokeWidth: 0 } : false}
      {...STILL}
    />
  ))
}

function meanLine(one: BandSeries, index: number, left: number) {
  const { color, dash } = seriesStyle(one.style)
  return (
    <Line
      key={`mean-${one.id}`}
      dataKey={`mean_${index}`}
      stroke={color}
      strokeWidth={SCREEN.mean}
      strokeOpacity={left}
      strokeDasharray={dash}
      dot={isolatedIndices(one.band.mean).size > 0 ? { r: 1.5, fill: color, strokeWidth: 0 } : false}
      {...STILL}
    />
  )
}
