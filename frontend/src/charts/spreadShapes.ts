import { writtenOut } from '@/lib/format'
import { decimalsIn } from './axisText'
import { paintOf } from './palette'
import type { Look } from './plot'
import { line, rectangle, type Shape } from './scene'
import { boxOf, type Dot, type SpreadRow } from './spread'
import { fitted } from './textWidth'
import { fineTicks } from './ticks'

/** Sizes in parts of the font's. */
const ROW = 3.7
const AXIS = 2.2
const SIDE = 2.7
const MIDDLE = 2.45
/** Dots of like values lie beside each other: as far up or down as their place says. */
const LANES = [0, -0.4, 0.4, -0.2, 0.2] as const

export const spreadHeight = (rows: number, look: Look) => (rows * ROW + AXIS) * look.font

export interface SpreadBox {
  rows: readonly SpreadRow[]
  from: number
  to: number
}

/** A dot per run, under its condition's name, over one axis; from five runs on with median, quarters and whiskers. */
export function spreadShapes({ rows, from, to }: SpreadBox, width: number, look: Look): Shape[] {
  const em = look.font
  const x = (value: number) => SIDE * em + ((width - 2 * SIDE * em) * (value - from)) / (to - from)
  const ticks = fineTicks(from, to, width < 38 * em ? 4 : 8)
  const decimals = decimalsIn(ticks)
  const bottom = rows.length * ROW * em
  return [
    ...ticks.map((tick): Shape => ({ is: 'path', d: line(x(tick), em * 0.4, x(tick), bottom), stroke: 'chart-grid', width: look.run })),
    ...ticks.map((tick): Shape => {
      const text = writtenOut(tick, decimals)
      return { is: 'text', x: x(tick), y: bottom + 1.3 * em, text, size: em, fill: 'chart-text', anchor: 'middle' }
    }),
    ...rows.flatMap((row, index) => rowShapes(row, index * ROW * em, x, width, look)),
  ]
}

function rowShapes({ id, label, style, dots }: SpreadRow, top: number, x: (value: number) => number, width: number, look: Look): Shape[] {
  const em = look.font
  const name = fitted(`${label} (n = ${dots.length})`, width - 2 * em, em)
  return [
    { is: 'text', x: em, y: top + 1.15 * em, text: name, size: em, fill: 'chart-ink' },
    ...boxShapes(dots, style, id, top + MIDDLE * em, x, look),
    ...dots.map(({ value, isOpen }, index): Shape => {
      const y = top + (MIDDLE + (LANES[index % LANES.length] ?? 0)) * em
      const ink = isOpen ? { fill: 'surface' as const, stroke: paintOf(style), width: look.run } : { fill: paintOf(style), opacity: 0.75 }
      return { is: 'dot', x: x(value), y, r: em * 0.24, series: id, ...ink }
    }),
  ]
}

function boxShapes(dots: readonly Dot[], style: number, series: string, y: number, x: (value: number) => number, look: Look): Shape[] {
  const box = boxOf(dots)
  if (!box) return []
  const half = look.font * 0.72
  const stroke = paintOf(style)
  const whiskers = line(x(box.low), y, x(box.first), y) + line(x(box.third), y, x(box.high), y)
  const outline = rectangle(x(box.first), y - half, x(box.third) - x(box.first), 2 * half)
  return [
    { is: 'path', d: outline, fill: stroke, opacity: 0.18, series },
    { is: 'path', d: outline + whiskers, stroke, width: look.run, series },
    { is: 'path', d: line(x(box.median), y - half, x(box.median), y + half), stroke, width: look.mean, series },
  ]
}
