import type { PathStay, PathWindow } from '@/api/types'
import { axisShapes, valueToY } from '@/charts/chartShapes'
import { clockTicks, tickText } from '@/charts/clock'
import { type Look, type Plot, pixelOf, plotOf, SCREEN } from '@/charts/plot'
import { line, polyline, rectangle, type Shape } from '@/charts/scene'
import { textWidth } from '@/charts/textWidth'
import { closeScale } from '@/charts/ticks'
import type { Span } from './span'

const DELAY_PX = 190
const ROW_PX = 40
/** Below this many pixels for each, changes are counted in bars and not drawn one by one. */
const LEAST_GAP_PX = 5
const BAR_PX = 6

export const STRIP_PX = DELAY_PX + ROW_PX

interface StripBox {
  window: Pick<PathWindow, 'points' | 'stays'>
  span: Span
  /** Of the path's start, in seconds since 1970. */
  start_s: number
  width: number
  look?: Look
}

/** Where delays lie in a strip this wide. */
export const delayPlot = (width: number, look = SCREEN): Plot => plotOf(width, DELAY_PX, false, false, look)

/** Where a path begins that is not the one before, within the window. */
export const changesOf = (stays: readonly PathStay[], { from_us, to_us }: Span): number[] =>
  stays.slice(1).flatMap((stay) => (stay.from_us > from_us && stay.from_us < to_us ? [stay.from_us] : []))

/** How many changes lie in each of `count` equal parts of the window. */
export function countedChanges(changes: readonly number[], { from_us, to_us }: Span, count: number): number[] {
  const bars = Array.from({ length: count }, () => 0)
  for (const at of changes) {
    const bar = Math.min(count - 1, Math.floor((count * (at - from_us)) / (to_us - from_us)))
    bars[bar] = (bars[bar] ?? 0) + 1
  }
  return bars
}

/** Of the row of changes: one mark for each, or bars of how many there are in so many seconds. */
export function rowOfChanges(changes: readonly number[], span: Span, width: number): { bars: number[]; bar_s: number } | null {
  if (changes.length * LEAST_GAP_PX <= width) return null
  const count = Math.max(1, Math.floor(width / BAR_PX))
  return { bars: countedChanges(changes, span, count), bar_s: (span.to_us - span.from_us) / 1e6 / count }
}

/** One-way delay over time, changes of path below it, and stretches without a path shaded over both. */
export function stripShapes({ window, span, start_s, width, look = SCREEN }: StripBox): Shape[] {
  const plot = delayPlot(width, look)
  const scale = closeScale(window.points.map(({ delay_ms }) => delay_ms))
  const x = (at_us: number) => pixelOf(at_us, plot, span.from_us, span.to_us)
  const y = valueToY(plot, scale)
  const points = window.points.map(({ at_us, delay_ms }) => (delay_ms === null ? null : ([x(at_us), y(delay_ms)] as const)))
  const foot = plot.top + plot.height
  return [
    ...unreachable(window.stays, span, plot, x),
    ...axisShapes({ plot, look, from: span.from_us, to: span.to_us, ticks: [], scale, hasTimeAxis: false }),
    {
      is: 'clip',
      d: rectangle(plot.left, plot.top - 2, plot.width, plot.height + 4),
      shapes: [{ is: 'path', d: polyline(points), stroke: 'series-1', width: look.mean, role: 'mean' }],
    },
    ...changeShapes(changesOf(window.stays, span), span, plot, foot),
    ...clock(span, start_s, plot, foot + 18, look),
  ]
}

/** Shaded, and with slanting lines so that no colour is needed to see it. */
function unreachable(stays: readonly PathStay[], { from_us, to_us }: Span, plot: Plot, x: (at_us: number) => number): Shape[] {
  return stays
    .filter(({ hops }) => hops === 0)
    .flatMap((stay): Shape[] => {
      const [left, right] = [x(Math.max(from_us, stay.from_us)), x(Math.min(to_us, stay.to_us))]
      const area = rectangle(left, plot.top, Math.max(1.5, right - left), plot.height + 18)
      const lines: string[] = []
      const height = plot.height + 18
      for (let at = left - height; at < right; at += 8) lines.push(`M${at} ${plot.top + height}L${at + height} ${plot.top}`)
      return [
        { is: 'path', d: area, fill: 'chart-note' },
        { is: 'clip', d: area, shapes: [{ is: 'path', d: lines.join(''), stroke: 'chart-level', width: 1 }] },
      ]
    })
}

function changeShapes(changes: readonly number[], span: Span, plot: Plot, foot: number): Shape[] {
  const [top, bottom] = [foot + 3, foot + 17]
  const x = (at_us: number) => pixelOf(at_us, plot, span.from_us, span.to_us)
  const counted = rowOfChanges(changes, span, plot.width)
  if (!counted) {
    return [
      { is: 'path', d: changes.map((at) => line(x(at), plot.top, x(at), foot)).join(''), stroke: 'chart-axis', width: 1, dash: '2 3' },
      { is: 'path', d: changes.map((at) => line(x(at), top, x(at), bottom)).join(''), stroke: 'series-2', width: 2 },
    ]
  }
  const most = Math.max(...counted.bars)
  const each = plot.width / counted.bars.length
  const bars = counted.bars.map((bar, index) => {
    const height = ((bottom - top) * bar) / most
    return bar > 0 ? rectangle(plot.left + index * each, bottom - height, Math.max(1, each - 1), height) : ''
  })
  return [{ is: 'path', d: bars.join(''), fill: 'series-2' }]
}

function clock({ from_us, to_us }: Span, start_s: number, plot: Plot, y: number, { font, margin }: Look): Shape[] {
  const [from, to] = [start_s + from_us / 1e6, start_s + to_us / 1e6]
  const edge = plot.left + plot.width + margin.right
  const ticks = clockTicks(from, to, Math.max(2, Math.floor(plot.width / 62)))
  return ticks.map((tick) => {
    const [text, x] = [tickText(tick), pixelOf(tick, plot, from, to)]
    const half = textWidth(text, font) / 2
    return { is: 'text', x: Math.min(x, edge - half), y: y + font * 1.3, text, size: font, fill: 'chart-text', anchor: 'middle' }
  })
}
