import { heatPaint } from './heat'
import type { Look } from './plot'
import { rectangle, type Shape } from './scene'
import { textWidth, wrapped } from './textWidth'

export interface HeatCell {
  value: number
  /** The value as it is printed in the cell. */
  text: string
  /** More on the cell, for a pointer that rests on it. */
  detail: string
}

/** A table of cells that are coloured by their value. */
export interface HeatGrid {
  title: string
  xName: string
  xs: readonly (number | string)[]
  /** Null: one row. */
  yName: string | null
  ys: readonly (number | string)[]
  /** By row, then by column; null where there is no value. */
  cells: readonly (readonly (HeatCell | null)[])[]
  /** Ends of the colour scale. */
  low: number
  high: number
  /** Colours by the distance from 0, values below 0 in the other hue. */
  isSigned?: boolean
}

/** In parts of the font's size. */
const CELL = 2.1
const LINE = 1.25
/** The names of rows take no more of the width than this. */
const NAMES = 0.45

interface Placed {
  left: number
  head: number
  rows: { lines: string[]; height: number }[]
  columns: string[][]
  cell: number
}

function placed({ xs, ys, yName, cells }: HeatGrid, width: number, em: number): Placed {
  const names = yName ? ys.map(String) : []
  const left = names.length > 0 ? Math.min(width * NAMES, Math.max(...names.map((name) => textWidth(name, em))) + em) : 0
  const cell = (width - left) / Math.max(1, xs.length)
  const columns = xs.map((x) => wrapped(String(x), cell, em))
  const rows = cells.map((_, index) => {
    const lines = wrapped(names[index] ?? '', left - em * 0.5, em)
    return { lines, height: Math.max(CELL, lines.length * LINE + 0.4) * em }
  })
  return { left, cell, columns, rows, head: (Math.max(...columns.map(({ length }) => length)) * LINE + 0.4) * em }
}

export function gridHeight(grid: HeatGrid, width: number, look: Look): number {
  const { head, rows } = placed(grid, width, look.font)
  return head + rows.reduce((sum, { height }) => sum + height, 0)
}

/** Names at the edges, and each value in its coloured cell. */
export function gridShapes(grid: HeatGrid, width: number, look: Look): Shape[] {
  const em = look.font
  const { left, cell, columns, rows, head } = placed(grid, width, em)
  const text = (x: number, y: number, words: string, anchor: 'start' | 'middle') =>
    ({ is: 'text', x, y, text: words, size: em, anchor, fill: 'chart-ink' }) as const
  const heads = columns.flatMap((lines, column): Shape[] =>
    lines.map((words, index) => text(left + (column + 0.5) * cell, (index + 1) * LINE * em - 0.2 * em, words, 'middle')),
  )
  let top = head
  const body = grid.cells.flatMap((row, index): Shape[] => {
    const { lines, height } = rows[index] ?? { lines: [], height: 0 }
    const middle = top + height / 2
    const first = middle - ((lines.length - 1) * LINE * em) / 2 + em * 0.35
    const names = lines.map((words, place): Shape => text(0, first + place * LINE * em, words, 'start'))
    const drawn = row.flatMap((one, column): Shape[] => {
      const x = left + column * cell
      if (!one) return [text(x + cell / 2, middle + em * 0.35, '–', 'middle')]
      const { fill, ink } = heatPaint(one.value, grid)
      return [
        { is: 'path', d: rectangle(x + 0.5, top + 0.5, cell - 1, height - 1), fill },
        { ...text(x + cell / 2, middle + em * 0.35, one.text, 'middle'), fill: ink },
      ]
    })
    top += height
    return [...names, ...drawn]
  })
  return [...heads, ...body]
}
