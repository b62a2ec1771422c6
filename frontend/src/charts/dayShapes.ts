import { axisShapes, scaledDash, valueToY } from './chartShapes'
import { clockTicks, tickText } from './clock'
import { glyphOf, glyphShape } from './glyphs'
import type { Glyph } from './marks'
import { paintOf, seriesStyle } from './palette'
import { type Look, type Plot, pixelOf, plotOf } from './plot'
import { line, polyline, rectangle, type Shape } from './scene'
import { type Scale, valueScale } from './ticks'

/** A run with its value. */
export interface DayPoint {
  /** Of the run. */
  id: string
  /** Seconds since 1970. */
  x: number
  /** In API units. */
  value: number
}

/** The runs of one condition, or of one of its flows, in stretches: between two of them is a gap. */
export interface DayLine {
  id: string
  label: string
  style: number
  stretches: readonly (readonly DayPoint[])[]
}

/** Runs without a value, and why: a row of signs of their own. */
export interface DayRow {
  id: string
  label: string
  glyph: Glyph
  marks: readonly { id: string; x: number; style: number }[]
}

interface Span {
  from: number
  to: number
}

/** What somebody noted of a time; without an end it is a moment. Its number stands above the plot. */
export interface DayNote {
  number: number
  from: number
  to: number | null
}

interface Stretch extends Span {
  width: number
  look: Look
  nights: readonly Span[]
  notes: readonly DayNote[]
}

export interface DayBox extends Stretch {
  height: number
  lines: readonly DayLine[]
  /** Shown unit per API unit. */
  factor: number
  hasTimeAxis: boolean
  /** Numbers of the notes above this plot. */
  areNotesNamed: boolean
  /** The largest value of all plots beside this one, in API units, so that they have one axis. */
  most: number
}

export const mostOf = (lines: readonly DayLine[]): number =>
  Math.max(0, ...lines.flatMap(({ stretches }) => stretches.flatMap((points) => points.map(({ value }) => value))))

const count = (length: number, room: number) => Math.max(2, Math.min(13, Math.floor(length / room)))

export const dayPlot = ({
  width,
  height,
  hasTimeAxis,
  areNotesNamed,
  look,
}: Pick<DayBox, 'width' | 'height' | 'hasTimeAxis' | 'areNotesNamed' | 'look'>) => plotOf(width, height, hasTimeAxis, areNotesNamed, look)

/** The value axis, from zero. */
export const dayScale = ({ most, factor, look }: Pick<DayBox, 'most' | 'factor' | 'look'>, plot: Plot): Scale =>
  valueScale(most * factor, Math.min(5, Math.max(2, Math.floor(plot.height / look.tickHeight))))

export const dayTicks = ({ from, to, look }: Pick<Stretch, 'from' | 'to' | 'look'>, plot: Plot): number[] =>
  clockTicks(from, to, count(plot.width, look.tickWidth))

/** A run's sign: smaller where many stand side by side. */
export const dotSize = (lines: readonly DayLine[], plot: Plot, look: Look): number => {
  const runs = Math.max(1, ...lines.map(({ stretches }) => stretches.reduce((sum, points) => sum + points.length, 0)))
  return Math.max(1.4, Math.min(3.4, plot.width / runs / 2)) * (look.mean / 2)
}

/** Every run's value over clock time, nights shaded. */
export function dayShapes(box: DayBox): Shape[] {
  const { look, from, to, factor, lines, hasTimeAxis } = box
  const plot = dayPlot(box)
  const scale = dayScale(box, plot)
  const [x, y] = [(value: number) => pixelOf(value, plot, from, to), valueToY(plot, scale)]
  const r = dotSize(lines, plot, look)
  const inside = rectangle(plot.left - r, plot.top - r, plot.width + 2 * r, plot.height + 2 * r)
  return [
    ...nightShapes(box, plot),
    ...axisShapes({ plot, look, from, to, ticks: [], scale, hasTimeAxis: false }),
    ...noteShapes(box, plot, box.areNotesNamed),
    { is: 'clip', d: inside, shapes: lines.flatMap((one) => lineShapes(one, x, (value) => y(value * factor), r, look)) },
    ...(hasTimeAxis ? clockAxis(box, plot) : []),
  ]
}

type ToPixel = (value: number) => number

function lineShapes({ id, style, stretches }: DayLine, x: ToPixel, y: ToPixel, r: number, look: Look): Shape[] {
  return stretches.flatMap((points): Shape[] => {
    const d = polyline(points.map((point) => [x(point.x), y(point.value)] as const))
    const dash = scaledDash(seriesStyle(style).dash, look)
    return [
      ...(points.length > 1
        ? [{ is: 'path', d, stroke: paintOf(style), width: look.run * 0.8, opacity: 0.55, dash, role: 'mean', series: id } as const]
        : []),
      ...points.map((point) => ({ ...glyphShape(glyphOf(style), style, x(point.x), y(point.value), r), series: id })),
    ]
  })
}

function nightShapes({ nights, from, to }: Stretch, plot: Plot): Shape[] {
  return nights.map((night): Shape => {
    const [left, right] = [pixelOf(Math.max(night.from, from), plot, from, to), pixelOf(Math.min(night.to, to), plot, from, to)]
    return { is: 'path', d: rectangle(left, plot.top, right - left, plot.height), fill: 'chart-night' }
  })
}

function noteShapes({ notes, from, to, look }: Stretch, plot: Plot, areNamed: boolean): Shape[] {
  return notes.flatMap((note): Shape[] => {
    const left = pixelOf(Math.max(note.from, from), plot, from, to)
    const right = note.to === null ? left : pixelOf(Math.min(note.to, to), plot, from, to)
    const [top, bottom] = [plot.top, plot.top + plot.height]
    const edge: Shape = { is: 'path', d: line(left, top, left, bottom), stroke: 'chart-level', width: look.run, dash: '2 2' }
    const area: Shape[] =
      right > left ? [{ is: 'path', d: rectangle(left, top, right - left, plot.height), fill: 'chart-note', opacity: 0.5 }] : []
    const name: Shape = {
      is: 'text',
      x: left,
      y: top - 2,
      text: String(note.number),
      size: look.nameFont,
      fill: 'chart-ink',
      isBold: true,
      anchor: 'middle',
    }
    return [...area, edge, ...(areNamed ? [name] : [])]
  })
}

function clockAxis(box: Stretch, plot: Plot): Shape[] {
  const { look, from, to } = box
  return dayTicks(box, plot).map(
    (tick): Shape => ({
      is: 'text',
      x: pixelOf(tick, plot, from, to),
      y: plot.top + plot.height + look.font * 1.35,
      text: tickText(tick),
      size: look.font,
      fill: 'chart-text',
      anchor: 'middle',
    }),
  )
}

/** In parts of the font's size. */
const ROW = 2.5

export const rowsHeight = (rows: number, look: Look) => look.margin.top + rows * ROW * look.font + look.margin.bottom + look.timeAxis

export interface RowsBox extends Stretch {
  rows: readonly DayRow[]
}

/** Where a mark of a row stands, so that a pointer finds it. */
export const markY = (row: number, look: Look) => look.margin.top + (row * ROW + 1.75) * look.font

/** Runs that have no value, by what became of them, in line with the plots above. */
export function rowsShapes(box: RowsBox): Shape[] {
  const { width, from, to, look, rows } = box
  const plot = plotOf(width, rowsHeight(rows.length, look), true, false, look)
  const em = look.font
  return [
    ...nightShapes(box, plot),
    ...noteShapes(box, plot, false),
    ...rows.flatMap(({ label, glyph, marks }, index): Shape[] => {
      const top = plot.top + index * ROW * em
      const bottom = top + (ROW - 0.1) * em
      return [
        { is: 'text', x: plot.left, y: top + 0.95 * em, text: label, size: em, fill: 'chart-text' },
        { is: 'path', d: line(plot.left, bottom, plot.left + plot.width, bottom), stroke: 'chart-grid', width: look.run },
        ...marks.map(({ x, style }) => glyphShape(glyph, style, pixelOf(x, plot, from, to), markY(index, look), em * 0.34)),
      ]
    }),
    ...clockAxis(box, plot),
  ]
}
