import { useMemo } from 'react'
import { Area, ComposedChart, Line, ReferenceLine } from 'recharts'
import { axes, type Window, windowAreas } from './axes'
import { type AxisFacts, valueAxis } from './axis'
import { type BandSeries, hasRuns, isolatedIndices, mergeBands, readingAt } from './bands'
import { CursorLayer } from './CursorLayer'
import classes from './charts.module.css'
import { seriesStyle } from './palette'
import { MARGIN, plotOf } from './plot'
import { timeTicks } from './ticks'

export interface BandChartProps extends AxisFacts {
  width: number
  height: number
  hasTimeAxis: boolean
  windows?: readonly Window[] | undefined
  areWindowsNamed?: boolean | undefined
}

const WINDOW_LABEL = { position: 'top', offset: 3, fontSize: 10.5, fill: 'var(--chart-text)' } as const
const NO_WINDOWS: readonly Window[] = []

/** Mean lines with interval bands, or with the single runs where they are few, over a numeric x axis, with a cursor shared by its stack. */
export function BandChart(props: BandChartProps) {
  const { width, height, series, factor, from, to, hasBands, hasTimeAxis, level, limit, windows = NO_WINDOWS, areWindowsNamed } = props
  const rows = useMemo(() => mergeBands(series, factor), [series, factor])
  const { scale, isLevelShown } = useMemo(
    () => valueAxis({ series, from, to, hasBands, factor, level, limit }),
    [series, from, to, hasBands, factor, level, limit],
  )
  const ticks = useMemo(() => timeTicks(from, to, width < 420 ? 5 : 10), [from, to, width])
  const plot = plotOf(width, height, hasTimeAxis, areWindowsNamed)
  const valuesAt = (x: number) =>
    series.map((one) => {
      const mean = readingAt(one, x)?.mean
      return { id: one.id, style: one.style, value: mean == null ? null : mean * factor }
    })
  return (
    <>
      <ComposedChart
        width={width}
        height={height}
        data={rows}
        margin={{ ...MARGIN, top: plot.top, left: 0 }}
        accessibilityLayer={false}
        className={classes.chart}
      >
        {windowAreas(windows, from, to, ({ label }) => (areWindowsNamed ? { value: label, ...WINDOW_LABEL } : undefined))}
        {axes({ from, to, ticks, scale, hasTimeAxis })}
        {level && isLevelShown ? (
          <ReferenceLine y={level.value * factor} stroke="var(--chart-level)" strokeDasharray="4 4" ifOverflow="hidden" />
        ) : null}
        {hasBands ? series.map((one, index) => (hasRuns(one) ? runLines(one, index) : bandArea(one, index))) : null}
        {series.map(meanLine)}
      </ComposedChart>
      <CursorLayer plot={plot} {...{ from, to, valuesAt }} top={scale.max} />
    </>
  )
}

function bandArea(one: BandSeries, index: number) {
  return (
    <Area
      key={`band-${one.id}`}
      dataKey={`band_${index}`}
      stroke="none"
      fill={seriesStyle(one.style).color}
      fillOpacity={0.18}
      connectNulls={false}
      isAnimationActive={false}
      activeDot={false}
    />
  )
}

function runLines(one: BandSeries, index: number) {
  return one.band.runs?.map((run, k) => (
    <Line
      // biome-ignore lint/suspicious/noArrayIndexKey: the place of a run among the runs is its name
      key={`run-${one.id}-${k}`}
      dataKey={`run_${index}_${k}`}
      stroke={seriesStyle(one.style).color}
      strokeWidth={1}
      strokeOpacity={0.45}
      dot={isolatedIndices(run).size > 0 ? { r: 1, fill: seriesStyle(one.style).color, strokeWidth: 0 } : false}
      connectNulls={false}
      isAnimationActive={false}
      activeDot={false}
    />
  ))
}

function meanLine(one: BandSeries, index: number) {
  const { color, dash } = seriesStyle(one.style)
  const hasIsolated = isolatedIndices(one.band.mean).size > 0
  return (
    <Line
      key={`mean-${one.id}`}
      dataKey={`mean_${index}`}
      stroke={color}
      strokeWidth={2}
      strokeDasharray={dash}
      dot={hasIsolated ? { r: 1.5, fill: color, strokeWidth: 0 } : false}
      connectNulls={false}
      isAnimationActive={false}
      activeDot={false}
    />
  )
}
