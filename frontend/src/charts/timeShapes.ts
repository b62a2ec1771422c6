import { layerShapes } from './layerShapes'
import { type Look, pixelOf, plotOf } from './plot'
import { line, rectangle, type Shape } from './scene'
import { type Layer, stepAreas } from './stepAreas'
import { timeTicks } from './ticks'

interface Stretch {
  width: number
  height: number
  from: number
  to: number
  look: Look
}

function timeAxis({ width, height, from, to, look }: Stretch): Shape[] {
  const plot = plotOf(width, height, true, false, look)
  const ticks = timeTicks(from, to, Math.max(2, Math.min(10, Math.floor(plot.width / look.tickWidth))))
  return ticks.map((tick) => ({
    is: 'text',
    x: pixelOf(tick, plot, from, to),
    y: plot.top + plot.height + look.font * 1.35,
    text: String(tick),
    size: look.font,
    fill: 'chart-text',
    anchor: 'middle',
  }))
}

export interface ShareBox extends Stretch {
  /** One-second bins by their begin. */
  x: readonly number[]
  /** Ratios of each bin, from the bottom up. */
  layers: readonly Layer[]
}

/** What each second was made of: ratios stacked to 100 %. */
export function shareShapes(box: ShareBox): Shape[] {
  const { width, height, from, to, look, x, layers } = box
  const plot = plotOf(width, height, true, false, look)
  const toY = (share: number) => plot.top + plot.height * (1 - share)
  const toX = (value: number) => pixelOf(value, plot, from, to)
  const inside = { x: plot.left, y: plot.top, width: plot.width, height: plot.height }
  const scale = look.font / 11
  return [
    ...[0, 0.5, 1].flatMap((share): Shape[] => [
      { is: 'path', d: line(plot.left, toY(share), plot.left + plot.width, toY(share)), stroke: 'chart-grid', width: look.run },
      {
        is: 'text',
        x: plot.left - look.font * 0.6,
        y: toY(share) + look.font * 0.35,
        text: `${100 * share} %`,
        size: look.font,
        fill: 'chart-text',
        anchor: 'end',
      },
    ]),
    {
      is: 'clip',
      d: rectangle(plot.left, plot.top, plot.width, plot.height),
      shapes: stepAreas(layers, x, toX, toY).flatMap((outline, layer) => (outline ? layerShapes(outline, inside, layer, scale) : [])),
    },
    ...timeAxis(box),
  ]
}

/** What happened in which steps of a common x: a row of its own, so that it is told without colour. */
export interface EventRow {
  id: string
  label: string
  /** Of each step, from its x to the next one; above 0 it is marked. */
  amounts: readonly number[]
}

export interface EventBox extends Omit<Stretch, 'height'> {
  x: readonly number[]
  /** Where the last step ends. */
  end: number
  rows: readonly EventRow[]
}

/** In parts of the font's size. */
const ROW = 2.4

export const eventsHeight = (rows: number, look: Look) => look.margin.top + rows * ROW * look.font + look.margin.bottom + look.timeAxis

/** Rows of marks in line with the charts of their stack. */
export function eventShapes({ x, end, rows, ...stretch }: EventBox): Shape[] {
  const { width, from, to, look } = stretch
  const height = eventsHeight(rows.length, look)
  const plot = plotOf(width, height, true, false, look)
  const toX = (value: number) => pixelOf(value, plot, from, to)
  const em = look.font
  return [
    ...rows.flatMap(({ label, amounts }, index): Shape[] => {
      const top = plot.top + index * ROW * em
      const bottom = top + (ROW - 0.25) * em
      return [
        { is: 'text', x: plot.left, y: top + 0.9 * em, text: label, size: em, fill: 'chart-text' },
        { is: 'path', d: line(plot.left, bottom, plot.left + plot.width, bottom), stroke: 'chart-grid', width: look.run },
        { is: 'path', d: outline(x, end, amounts, toX, top + 1.2 * em, bottom), fill: 'series-1' },
      ]
    }),
    ...timeAxis({ ...stretch, height }),
  ]
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
