import { writtenOut } from '@/lib/format'
import type { Window } from './axes'
import type { Level } from './axis'
import { type AxisFacts, valueAxis } from './axis'
import { type BandSeries, hasRuns, isolatedIndices } from './bands'
import { type Curve, type CurvePoint, curveBounds } from './curves'
import { paintOf, seriesStyle } from './palette'
import { type Look, type Plot, pixelOf, plotOf } from './plot'
import { line, type Paint, type PathShape, polyline, rectangle, ribbon, type Shape } from './scene'
import { textWidth } from './textWidth'
import { closeScale, fineTicks, type Scale, timeTicks, valueScale } from './ticks'

interface Box {
  width: number
  height: number
  look: Look
  hasTimeAxis: boolean
  windows?: readonly Window[] | undefined
  areWindowsNamed?: boolean | undefined
}

/** How many ticks an axis of this length has at most. */
const tickCount = (length: number, room: number) => Math.max(2, Math.min(10, Math.floor(length / room)))

/** Shaded stretches, named above the plot. */
function windowShapes({ windows = [], areWindowsNamed, look }: Box, plot: Plot, from: number, to: number): Shape[] {
  return windows.flatMap((window, index): Shape[] => {
    const [left, right] = [Math.max(window.from, from), Math.min(window.to, to)]
    if (left >= right) return []
    const [x1, x2] = [pixelOf(left, plot, from, to), pixelOf(right, plot, from, to)]
    const area: Shape = { is: 'path', d: rectangle(x1, plot.top, x2 - x1, plot.height), fill: `chart-window-${index % 2}` }
    const name: Shape = {
      is: 'text',
      x: held((x1 + x2) / 2, textWidth(window.label, look.nameFont) / 2, plot),
      y: plot.top - 3,
      text: window.label,
      size: look.nameFont,
      fill: 'chart-text',
      anchor: 'middle',
    }
    return areWindowsNamed ? [area, name] : [area]
  })
}

/** A middle such that what is this wide on either side stays within the plot. */
const held = (x: number, half: number, { left, width }: Plot) => Math.max(left + half, Math.min(left + width - half, x))

interface Axes {
  plot: Plot
  look: Look
  from: number
  to: number
  ticks: readonly number[]
  scale: Scale
  hasTimeAxis: boolean
  /** What a tick says; else its number. */
  tickText?: ((x: number) => string) | undefined
}

/** Grid and both axes. */
export function axisShapes({ plot, look, from, to, ticks, scale, hasTimeAxis, tickText = numberText }: Axes): Shape[] {
  const right = plot.left + plot.width
  const bottom = plot.top + plot.height
  const y = valueToY(plot, scale)
  const text = { is: 'text', size: look.font, fill: 'chart-text' } as const
  return [
    ...scale.ticks.flatMap((tick): Shape[] => [
      { is: 'path', d: line(plot.left, y(tick), right, y(tick)), stroke: 'chart-grid', width: look.run },
      { ...text, x: plot.left - look.font * 0.6, y: y(tick) + look.font * 0.35, text: writtenOut(tick, scale.decimals), anchor: 'end' },
    ]),
    { is: 'path', d: line(plot.left, bottom, right, bottom), stroke: 'chart-axis', width: look.run },
    ...(hasTimeAxis
      ? ticks.map(
          (tick): Shape => ({
            ...text,
            x: pixelOf(tick, plot, from, to),
            y: bottom + look.font * 1.35,
            text: tickText(tick),
            anchor: 'middle',
          }),
        )
      : []),
  ]
}

const numberText = (value: number) => writtenOut(value, decimalsOf(value))
const decimalsOf = (value: number) => [0, 1, 2, 3, 4, 5, 6].find((decimals) => Number(value.toFixed(decimals)) === value) ?? 6

export const valueToY =
  (plot: Plot, { min, max }: Pick<Scale, 'min' | 'max'>) =>
  (value: number) =>
    plot.top + plot.height * (1 - (value - min) / (max - min))

/** The plot with a little around it, so that lines at its edges are seen whole. */
const inside = (plot: Plot) => rectangle(plot.left - 1, plot.top - 1, plot.width + 2, plot.height + 2)

export type BandBox = AxisFacts & Box

/** The value axis of a band chart of this height. */
export const bandAxis = (facts: AxisFacts, plot: Plot, look: Look) => valueAxis(facts, Math.min(5, tickCount(plot.height, look.tickHeight)))

/** Ticks of a band chart's x axis: seconds, or each place that has a name. */
export function bandTicks({ from, to, xNames }: Pick<AxisFacts, 'from' | 'to' | 'xNames'>, plot: Plot, look: Look): number[] {
  if (xNames) return xNames.map((_, place) => place)
  return timeTicks(from, to, tickCount(plot.width, look.tickWidth))
}

/** What a tick of named places says. */
export const namesText = (xNames: readonly string[] | undefined) => (xNames ? (x: number) => xNames[x] ?? '' : undefined)

/** Mean lines with interval bands, or with the single runs where they are few. */
export function bandShapes(box: BandBox): Shape[] {
  const { width, height, look, series, factor, from, to, hasBands, hasTimeAxis, level, areWindowsNamed } = box
  const plot = plotOf(width, height, hasTimeAxis, areWindowsNamed, look)
  const { scale, isLevelShown } = bandAxis(box, plot, look)
  const ticks = bandTicks(box, plot, look)
  const [x, y] = [(value: number) => pixelOf(value, plot, from, to), valueToY(plot, scale)]
  const drawn: Shape[] = []
  if (level && isLevelShown) drawn.push(levelShape(plot, y(level.value * factor), look))
  if (hasBands) drawn.push(...series.flatMap((one) => (hasRuns(one) ? runShapes(one, x, y, factor, look) : [bandShape(one, x, y, factor)])))
  drawn.push(...series.flatMap((one) => meanShapes(one, x, y, factor, look)))
  return [
    ...windowShapes(box, plot, from, to),
    ...axisShapes({ plot, look, from, to, ticks, scale, hasTimeAxis, tickText: namesText(box.xNames) }),
    { is: 'clip', d: inside(plot), shapes: drawn },
    ...publishedShapes(box, x, y),
  ]
}

/** Rings, as around every published value. */
const publishedShapes = ({ published = [], factor, look }: BandBox, x: ToPixel, y: ToPixel): Shape[] =>
  published.map(({ x: at, value, style }) => ringShape(x(at), y(value * factor), style, look))

const ringShape = (x: number, y: number, style: number, look: Look): Shape => ({
  is: 'dot',
  x,
  y,
  r: look.font * 0.36,
  fill: 'surface',
  stroke: paintOf(style),
  width: look.mean * 0.8,
})

const levelShape = (plot: Plot, y: number, look: Look): PathShape => ({
  is: 'path',
  d: line(plot.left, y, plot.left + plot.width, y),
  stroke: 'chart-level',
  width: look.run,
  dash: '4 4',
  role: 'level',
})

type ToPixel = (value: number) => number

/** Points at steps of one along x: an absent bin is a gap and not a bridge. Uneven steps are all joined. */
function pointsOf(one: BandSeries, values: readonly (number | null)[], x: ToPixel, y: ToPixel, factor: number) {
  return one.x.flatMap((at, index) => {
    const value = values[index]
    const point = value == null ? null : ([x(at), y(value * factor)] as const)
    const before = one.x[index - 1]
    return before !== undefined && at - before > 1 && !one.isUneven ? [null, point] : [point]
  })
}

function bandShape(one: BandSeries, x: ToPixel, y: ToPixel, factor: number): Shape {
  const lows = pointsOf(one, one.band.low, x, y, factor)
  const highs = pointsOf(one, one.band.high, x, y, factor)
  const d = ribbon(lows.map((low, index) => (low && highs[index] ? ([low[0], low[1], highs[index][1]] as const) : null)))
  return { is: 'path', d, fill: paintOf(one.style), opacity: 0.18, role: 'band', series: one.id }
}

function runShapes(one: BandSeries, x: ToPixel, y: ToPixel, factor: number, look: Look): Shape[] {
  const ink = { stroke: paintOf(one.style), width: look.run, opacity: 0.45, series: one.id }
  return (one.band.runs ?? []).flatMap((run): Shape[] => {
    const points = pointsOf(one, run, x, y, factor)
    return [{ is: 'path', d: polyline(points), role: 'run', ...ink }, ...dots(points, look.run, one)]
  })
}

/** A line cannot show a value whose neighbours are missing: it gets a dot. */
function dots(points: readonly (readonly [number, number] | null)[], r: number, { id, style }: { id: string; style: number }): Shape[] {
  return [...isolatedIndices(points.map((point) => point?.[1]))].flatMap((index): Shape[] => {
    const point = points[index]
    return point ? [{ is: 'dot', x: point[0], y: point[1], r, fill: paintOf(style), series: id }] : []
  })
}

function meanShapes(one: BandSeries, x: ToPixel, y: ToPixel, factor: number, look: Look): Shape[] {
  const points = pointsOf(one, one.band.mean, x, y, factor)
  const { dash } = seriesStyle(one.style)
  return [
    {
      is: 'path',
      d: polyline(points),
      stroke: paintOf(one.style),
      width: look.mean,
      dash: scaledDash(dash, look),
      role: 'mean',
      series: one.id,
    },
    ...dots(points, look.mean * 0.75, one),
  ]
}

/** Dashes are made for lines two wide. */
export const scaledDash = (dash: string, look: Look): string | undefined =>
  dash === '0'
    ? undefined
    : dash
        .split(' ')
        .map((part) => Math.round(Number(part) * look.mean * 50) / 100)
        .join(' ')

export interface CurveBox extends Box {
  x: readonly number[]
  curves: readonly Curve[]
  from: number
  to: number
  /** Shown unit per API unit. */
  factor: number
  isStepped?: boolean | undefined
  /** Horizontal lines in API units; the axis reaches them. */
  levels?: readonly Level[] | undefined
  /** The axis goes no further down and up than this, in API units; what lies beyond is cut off. */
  reach?: readonly [number, number] | undefined
  /** The axis goes up to this at least, in API units: charts side by side have one scale. */
  atLeast?: number | undefined
  /** The axis begins near the least value and not at 0. */
  isClose?: boolean | undefined
  marks?: readonly { id: string; x: number; style: number }[] | undefined
  /** Rings with their text. */
  points?: readonly CurvePoint[] | undefined
}

const EVERYTHING = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const

/** The value axis of a curve chart. */
export function curveScale(box: CurveBox): Scale {
  const { x, curves, from, to, factor, levels = [], reach = EVERYTHING, atLeast = Number.NEGATIVE_INFINITY, look } = box
  if (box.isClose) return closeScale(curves.flatMap(({ y }) => y.map((value) => (value === null ? null : value * factor))))
  const { height } = plotOf(box.width, box.height, box.hasTimeAxis, box.areWindowsNamed, look)
  const count = Math.min(5, tickCount(height, look.tickHeight))
  const [low, high] = curveBounds(x, curves, from, to) ?? [0, 0]
  const top = Math.min(reach[1], Math.max(high, atLeast, ...levels.map(({ value }) => value)))
  return valueScale(top * factor, count, Math.max(reach[0], low) * factor)
}

/** Ticks of a curve chart's axis, as fine as its zoom. */
export const curveTicks = (from: number, to: number, plot: Plot, look: Look) => fineTicks(from, to, tickCount(plot.width, look.tickWidth))

/** Where a point's text is, beside its ring: below to the right, where a rising curve leaves room, or else above to the left. ground: what is covered for it, so that it can be read over curves. */
export function besidePoint(text: string, x: number, y: number, plot: Plot, look: Look): Beside {
  const [gap, font, width] = [look.font * 0.7, look.nameFont, textWidth(text, look.nameFont)]
  const fits = x + gap + width <= plot.left + plot.width
  const [dx, dy] = fits ? [gap, font] : [-gap, -font * 0.4]
  const ground = rectangle(x + (fits ? dx : dx - width) - 1, y + dy - font * 0.85, width + 2, font * 1.1)
  return { dx, dy, anchor: fits ? 'start' : 'end', ground }
}

interface Beside {
  dx: number
  dy: number
  anchor: 'start' | 'end'
  ground: string
}

/** Rings, as around every published value, each with its text. */
const pointShapes = ({ points = [], factor, look }: CurveBox, plot: Plot, x: ToPixel, y: ToPixel): Shape[] =>
  points.flatMap(({ x: at, y: value, style, text }): Shape[] => {
    const [left, top] = [x(at), y(value * factor)]
    const { dx, dy, anchor, ground } = besidePoint(text, left, top, plot, look)
    return [
      ...(text ? [{ is: 'path', d: ground, fill: 'surface', opacity: 0.85 } as const] : []),
      ringShape(left, top, style, look),
      { is: 'text', x: left + dx, y: top + dy, text, size: look.nameFont, fill: 'chart-text', anchor },
    ]
  })

/** Lines over irregular x, with named levels, shaded windows, vertical marks and named points. */
export function curveShapes(box: CurveBox): Shape[] {
  const { width, height, look, from, to, factor, hasTimeAxis, levels = [], marks = [], isStepped } = box
  const plot = plotOf(width, height, hasTimeAxis, box.areWindowsNamed, look)
  const scale = curveScale(box)
  const [x, y] = [(value: number) => pixelOf(value, plot, from, to), valueToY(plot, scale)]
  const lines = box.curves.map(({ id, style, y: values }): Shape => {
    const points = box.x.map((at, index) => (values[index] == null ? null : ([x(at), y((values[index] ?? 0) * factor)] as const)))
    return {
      is: 'path',
      d: polyline(points, isStepped),
      stroke: paintOf(style),
      width: look.mean * 0.9,
      dash: scaledDash(seriesStyle(style).dash, look),
      role: 'mean',
      series: id,
    }
  })
  const named = levels.flatMap(({ value, label }): Shape[] => [
    levelShape(plot, y(value * factor), look),
    { is: 'text', x: plot.left + 4, y: y(value * factor) - 3, text: label, size: look.nameFont, fill: 'chart-text' },
  ])
  const verticals = marks
    .filter((mark) => mark.x >= from && mark.x <= to)
    .map((mark): Shape => {
      const stroke: Paint = paintOf(mark.style)
      return {
        is: 'path',
        d: line(x(mark.x), plot.top, x(mark.x), plot.top + plot.height),
        stroke,
        width: look.run * 1.5,
        dash: scaledDash(seriesStyle(mark.style).dash, look),
      }
    })
  const ticks = curveTicks(from, to, plot, look)
  return [
    ...windowShapes(box, plot, from, to),
    ...axisShapes({ plot, look, from, to, ticks, scale, hasTimeAxis }),
    { is: 'clip', d: inside(plot), shapes: [...named, ...lines, ...verticals] },
    ...pointShapes(box, plot, x, y),
  ]
}
