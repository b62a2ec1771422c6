import type { Look } from './plot'
import { line, moved, rectangle, type Shape } from './scene'

/** How often values fell into bins of equal width on one axis. */
export interface BinRow {
  label: string
  counts: readonly number[]
  /** A value that stands out, from 0 to 1 on the axis. */
  mark: number | null
}

/** Ticks from 0 to 1 on the axis. */
export interface BinTick {
  at: number
  text: string
}

/** Bars on a base line, the highest as high as the place, and the line of what stands out. */
export function binShapes({ counts, mark }: Omit<BinRow, 'label'>, width: number, height: number): Shape[] {
  const most = Math.max(1, ...counts)
  const step = width / Math.max(1, counts.length)
  const room = height - 4
  return [
    { is: 'path', d: line(0, height - 0.5, width, height - 0.5), stroke: 'chart-axis', width: 1 },
    ...counts.flatMap((count, bin): Shape[] => {
      const tall = (room * count) / most
      return count > 0 ? [{ is: 'path', d: rectangle(bin * step, height - 1 - tall, step * 0.87, tall), fill: 'series-7' }] : []
    }),
    ...(mark === null
      ? []
      : [{ is: 'path' as const, d: line(mark * width, 0, mark * width, height), stroke: 'chart-cursor' as const, width: 1.5 }]),
  ]
}

/** In parts of the font's size. */
const [ROW, NAME, AXIS, SIDE] = [5.5, 1.5, 1.8, 2]

export const binRowsHeight = (rows: number, look: Look) => (rows * ROW + AXIS) * look.font

/** Rows under each other over one axis, each under its name. */
export function binRowsShapes(rows: readonly BinRow[], ticks: readonly BinTick[], width: number, look: Look): Shape[] {
  const em = look.font
  const span = width - 2 * SIDE * em
  const drawn = rows.flatMap((row, index): Shape[] => {
    const top = index * ROW * em
    const bars = binShapes(row, span, (ROW - NAME - 0.4) * em)
    return [
      { is: 'text', x: SIDE * em, y: top + em, text: row.label, size: em, fill: 'chart-ink' },
      ...moved(bars, SIDE * em, top + NAME * em),
    ]
  })
  const names = ticks.map(
    ({ at, text }): Shape => ({
      is: 'text',
      x: SIDE * em + at * span,
      y: (rows.length * ROW + 1.1) * em,
      text,
      size: em,
      fill: 'chart-text',
      anchor: 'middle',
    }),
  )
  return [...drawn, ...names]
}
