import { writtenOut } from '@/lib/format'
import { decimalsIn } from './axisText'
import { layerShapes } from './layerShapes'
import { paintOf } from './palette'
import type { Look } from './plot'
import { line, rectangle, type Shape } from './scene'
import { spanScale } from './spans'
import type { Scale } from './ticks'

/** A difference with its two intervals, in the shown unit. */
export interface ForestRow {
  label: string
  style: number
  mean: number | null
  low: number | null
  high: number | null
  bootstrap_low: number | null
  bootstrap_high: number | null
}

/** Sizes in parts of the font's. */
const ROW = 4.5
const AXIS = 2.4
const SIDE = 2.7
/** Above it stands the row's name. */
const LABEL = 1.8

export const forestHeight = (rows: number, look: Look) => (rows * ROW + AXIS) * look.font

type At = (value: number) => number

/** Differences under each other over one axis with a zero line: thick the t interval, thin below it the bootstrap. */
export function forestShapes(rows: readonly ForestRow[], width: number, look: Look): Shape[] {
  const em = look.font
  const scale = spanScale(
    rows.flatMap((row) => [row.mean, row.low, row.high, row.bootstrap_low, row.bootstrap_high]),
    width < 38 * em ? 4 : 8,
  )
  const x: At = (value) => SIDE * em + ((width - 2 * SIDE * em) * (value - scale.min)) / (scale.max - scale.min)
  return [
    ...rows.flatMap((_, index) => tickLines(scale, x, (index * ROW + LABEL) * em, (index + 1) * ROW * em, look)),
    ...scale.ticks.map((tick): Shape => {
      const text = `${tick > 0 ? '+' : ''}${writtenOut(tick, decimalsIn(scale.ticks))}`
      return { is: 'text', x: x(tick), y: (rows.length * ROW + 1.45) * em, text, size: em, fill: 'chart-text', anchor: 'middle' }
    }),
    ...rows.flatMap((row, index) => forestRow(row, index * ROW * em, x, look)),
  ]
}

const tickLines = (scale: Scale, x: At, top: number, bottom: number, look: Look): Shape[] =>
  scale.ticks.map((tick) => ({
    is: 'path',
    d: line(x(tick), top, x(tick), bottom),
    stroke: tick === 0 ? 'chart-cursor' : 'chart-grid',
    width: tick === 0 ? look.run * 1.5 : look.run,
  }))

function forestRow(row: ForestRow, top: number, x: At, look: Look): Shape[] {
  const em = look.font
  const stroke = paintOf(row.style)
  const name: Shape = { is: 'text', x: em, y: top + 1.35 * em, text: row.label, size: em * 1.1, fill: 'chart-ink', isBold: true }
  const mean: Shape[] =
    row.mean === null
      ? []
      : [{ is: 'dot', x: x(row.mean), y: top + 2.55 * em, r: em * 0.45, fill: stroke, stroke: 'surface', width: look.run * 1.5 }]
  return [
    name,
    ...interval(row.low, row.high, x, top + 2.55 * em, em * 0.45, { stroke, width: look.mean * 1.5 }),
    ...interval(row.bootstrap_low, row.bootstrap_high, x, top + 3.65 * em, em * 0.28, { stroke, width: look.mean * 0.75 }),
    ...mean,
  ]
}

/** A line with ends. */
function interval(
  low: number | null,
  high: number | null,
  x: At,
  y: number,
  cap: number,
  ink: { stroke: ReturnType<typeof paintOf>; width: number },
): Shape[] {
  if (low === null || high === null) return []
  const d = line(x(low), y, x(high), y) + line(x(low), y - cap, x(low), y + cap) + line(x(high), y - cap, x(high), y + cap)
  return [{ is: 'path', d, ...ink }]
}

/** Ratios that make up a whole, with their name. */
export interface BarRow {
  label: string
  shares: readonly (number | null)[]
}

const BAR_ROW = 2.9

export const barsHeight = (rows: number, look: Look) => (rows * BAR_ROW + 2) * look.font

/** Bars from 0 to 100 % under each other, each under its name. */
export function barShapes(rows: readonly BarRow[], width: number, look: Look): Shape[] {
  const em = look.font
  const [left, span] = [em, width - 3 * em]
  const bars = rows.flatMap(({ label, shares }, index): Shape[] => {
    const top = index * BAR_ROW * em
    const known = shares.map((share) => share ?? 0)
    const start = (layer: number) => known.slice(0, layer).reduce((sum, share) => sum + share, 0)
    const name: Shape = { is: 'text', x: left, y: top + em, text: label, size: em, fill: 'chart-ink' }
    const whole = { x: left, y: top + 1.3 * em, width: span, height: em * 1.2 }
    const back: Shape = { is: 'path', d: rectangle(whole.x, whole.y, whole.width, whole.height), fill: 'chart-grid' }
    const parts = known.flatMap((share, layer) => {
      const box = { ...whole, x: left + start(layer) * span, width: share * span }
      return share > 0 ? layerShapes(rectangle(box.x, box.y, box.width, box.height), box, layer, 0.5) : []
    })
    return [name, back, ...parts]
  })
  const ticks = [0, 25, 50, 75, 100].map(
    (percent): Shape => ({
      is: 'text',
      x: left + (span * percent) / 100,
      y: (rows.length * BAR_ROW + 1.2) * em,
      text: percent === 100 ? '100 %' : String(percent),
      size: em,
      fill: 'chart-text',
      anchor: 'middle',
    }),
  )
  return [...bars, ...ticks]
}
