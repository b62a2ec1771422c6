import { MARGIN, type Plot, pixelOf } from './plot'

/** The shape of a mark's flag; with its code and its dash it is told without colour. */
export type Glyph = 'bar' | 'circle' | 'cross' | 'square' | 'triangle' | 'diamond' | 'hexagon'

/** A moment on the x axis, drawn as a vertical line through a stack of charts with one flag above them. */
export interface Mark {
  id: string
  x: number
  /** Two or three letters on the flag. */
  code: string
  label: string
  style: number
  glyph: Glyph
}

export interface PlacedMark extends Mark {
  left: number
  /** Row of the flag from the top; flags of one row do not overlap. */
  row: number
  /** Its code stands before the glyph: behind it there is no room. */
  isBefore: boolean
}

/** Width of a flag: glyph and code. */
export const FLAG_WIDTH = 40

/** Flags in rows: each takes the first row in which the flag before it has ended. Marks outside the axis are left out. */
export function placeMarks(marks: readonly Mark[], plot: Plot, from: number, to: number): PlacedMark[] {
  const ends: number[] = []
  return marks
    .filter(({ x }) => x >= from && x <= to)
    .sort((a, b) => a.x - b.x)
    .map((mark) => {
      const left = pixelOf(mark.x, plot, from, to)
      const isBefore = left + FLAG_WIDTH > plot.left + plot.width + MARGIN.right
      const start = isBefore ? left - FLAG_WIDTH : left
      const free = ends.findIndex((end) => end <= start)
      const row = free === -1 ? ends.length : free
      ends[row] = left + FLAG_WIDTH
      return { ...mark, left, row, isBefore }
    })
}
