import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useMemo, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { SampledColumn } from '@/api/types'
import { useCursorStore } from '@/charts/cursor'
import type { Mark } from '@/charts/marks'
import { CHART_COLORS, SERIES_STYLES } from '@/charts/palette'
import { MARGIN, TIME_AXIS_HEIGHT, VALUE_AXIS_WIDTH } from '@/charts/plot'
import { formatNumber } from '@/lib/format'
import { type Span, secondsText } from './span'

export interface RawChartProps {
  column: SampledColumn
  /** Drawn unit per unit of the column. */
  factor: number
  style: number
  span: Span
  marks: readonly Mark[]
  shaded: readonly Span[]
  width: number
  height: number
  hasTimeAxis: boolean
  onZoom: (span: Span) => void
}

const FONT = "11px 'Inter Variable', system-ui, sans-serif"
const NO_TIME_AXIS_HEIGHT = 4
/** Less than this is a click with an unsteady hand. */
const DRAG_PX = 6

/** Samples of one field as a line, and as dots where they lie apart; the cursor of its stack; dragging asks for a stretch. */
export function RawChart(props: RawChartProps) {
  const scheme = useComputedColorScheme('light')
  const store = useCursorStore()
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const { column, factor, span, marks, shaded, width, height } = props
  const data = useMemo(() => aligned(column, factor), [column, factor])
  const { from_s, to_s } = span

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn again is named here; functions are read when they are needed
  useEffect(() => {
    if (!place.current) return
    const chart = new uPlot(options(latest, scheme, store.set), data, place.current)
    const follow = () => {
      const x = store.get()
      const isWithin = x !== null && x >= from_s && x <= to_s
      chart.setCursor({ left: isWithin ? chart.valToPos(x, 'x') : -10, top: isWithin ? 0 : -10 }, false)
    }
    follow()
    const leave = store.subscribe(follow)
    return () => {
      leave()
      chart.destroy()
    }
  }, [data, scheme, from_s, to_s, width, height, marks, shaded, store])

  return <div ref={place} aria-hidden="true" />
}

function aligned(column: SampledColumn, factor: number): uPlot.AlignedData {
  return [column.time_us.map((at_us) => at_us / 1e6), column.values.map((value) => (value == null ? null : value * factor))]
}

function options(latest: { current: RawChartProps }, scheme: 'light' | 'dark', setCursor: (x: number | null) => void): uPlot.Options {
  const { width, height, hasTimeAxis, span, style } = latest.current
  const colors = CHART_COLORS[scheme]
  const color = SERIES_STYLES[style % SERIES_STYLES.length]?.[scheme] ?? colors['chart-ink']
  const axis = { stroke: colors['chart-text'], font: FONT, grid: { stroke: colors['chart-grid'], width: 1 }, ticks: { show: false } }
  return {
    width,
    height,
    padding: [MARGIN.top, MARGIN.right, MARGIN.bottom, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      points: { size: 7, fill: color },
    },
    scales: { x: { time: false, range: () => [span.from_s, span.to_s] } },
    axes: [
      {
        ...axis,
        size: hasTimeAxis ? TIME_AXIS_HEIGHT : NO_TIME_AXIS_HEIGHT,
        values: (_, splits) =>
          splits.map((at) => (hasTimeAxis ? secondsText(at, { from_s: 0, to_s: (span.to_s - span.from_s) * 10 }) : '')),
        space: 64,
      },
      { ...axis, size: VALUE_AXIS_WIDTH, space: 24, gap: 4, values: (_, splits) => splits.map(tickText) },
    ],
    series: [{}, { stroke: color, width: 1.25, spanGaps: false, points: { size: 4, fill: color } }],
    hooks: {
      drawAxes: [(chart) => shade(chart, latest.current.shaded, colors['chart-window-0'])],
      draw: [(chart) => drawMarks(chart, latest.current.marks, scheme)],
      setCursor: [
        (chart) => {
          const { left = -1 } = chart.cursor
          setCursor(left < 0 ? null : Math.round(chart.posToVal(left, 'x') * 1e6) / 1e6)
        },
      ],
      setSelect: [
        (chart) => {
          const { left, width: dragged } = chart.select
          if (dragged < DRAG_PX) return
          const [from_s, to_s] = [chart.posToVal(left, 'x'), chart.posToVal(left + dragged, 'x')]
          latest.current.onZoom({ from_s: Math.max(0, from_s), to_s })
        },
      ],
    },
  }
}

/** Five characters fit beside the axis. */
function tickText(value: number | null): string {
  if (value === null) return ''
  const size = Math.abs(value)
  if (size > 0 && size < 0.00995) return value.toExponential(1).replace('.0', '')
  const step = size >= 1e6 ? { by: 1e-6, sign: 'M' } : size >= 1e5 ? { by: 1e-3, sign: 'k' } : { by: 1, sign: '' }
  return `${formatNumber(value * step.by).replace(/\.0+$/, '')}${step.sign}`
}

function shade({ ctx, bbox, valToPos }: uPlot, stretches: readonly Span[], color: string) {
  ctx.save()
  clip(ctx, bbox)
  ctx.fillStyle = color
  for (const { from_s, to_s } of stretches) {
    const left = valToPos(from_s, 'x', true)
    ctx.fillRect(left, bbox.top, Math.max(2, valToPos(to_s, 'x', true) - left), bbox.height)
  }
  ctx.restore()
}

function drawMarks({ ctx, bbox, valToPos }: uPlot, marks: readonly Mark[], scheme: 'light' | 'dark') {
  ctx.save()
  clip(ctx, bbox)
  ctx.lineWidth = devicePixelRatio
  for (const { x, style } of marks) {
    const look = SERIES_STYLES[style % SERIES_STYLES.length]
    ctx.strokeStyle = look?.[scheme] ?? ''
    ctx.setLineDash(look && look.dash !== '0' ? look.dash.split(' ').map((part) => Number(part) * devicePixelRatio) : [])
    ctx.beginPath()
    ctx.moveTo(valToPos(x, 'x', true), bbox.top)
    ctx.lineTo(valToPos(x, 'x', true), bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

function clip(ctx: CanvasRenderingContext2D, { left, top, width, height }: uPlot.BBox) {
  ctx.beginPath()
  ctx.rect(left, top, width, height)
  ctx.clip()
}
