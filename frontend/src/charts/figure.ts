import { type LegendKey, legendShapes } from './legend'
import { type Look, PAPER } from './plot'
import { moved, type Scene, type Shape } from './scene'
import { svgText } from './svg'
import { csvText, type Table } from './table'
import { BOLD, fitted, textWidth, wrapped } from './textWidth'

/** One chart of a figure. */
export interface FigurePanel {
  title: string
  /** What is drawn besides the series, in a few words. */
  note?: string | undefined
  /** In points, for a width in points. */
  height: (width: number) => number
  shapes: (width: number, height: number, look: Look) => Shape[]
}

/** Charts under each other, under a name of their own. */
export interface FigureColumn {
  title?: string | undefined
  panels: FigurePanel[]
}

/** What a chart, or a stack of them, is when it is taken away. */
export interface Figure {
  /** Of the files, without what ends them. */
  file: string
  title: string
  columns: FigureColumn[]
  legend: LegendKey[]
  xTitle?: string | undefined
  /** Sentences: what is shown, of how many runs, made how, over which link. */
  caption: string
  table: Table
}

/** A journal's columns, in millimetres. */
export const WIDTHS_MM = { single: 89, double: 183 } as const
export type FigureWidth = keyof typeof WIDTHS_MM
/** So many columns stand side by side. */
const ABREAST = { single: 2, double: 4 } as const
export const POINTS_PER_MM = 72 / 25.4
/** Twice the 150 dots per inch of a draft. */
export const PIXELS_PER_POINT = (2 * 150) / 72

const SIDE = 2
/** So much of a line is filled with words: a font that stands in for Helvetica is wider. */
const FILL = 0.94
const GAP = 6
const LINE = 10
const TITLE = 12
const { font: FONT } = PAPER

const textAt = (x: number, y: number, text: string): Shape & { is: 'text' } => ({ is: 'text', x, y, text, size: FONT, fill: 'chart-ink' })

interface Placed {
  shapes: Shape[]
  height: number
}

/** A column of charts, `width` wide. */
function columnOf({ title, panels }: FigureColumn, width: number): Placed {
  const shapes: Shape[] = title ? [{ ...textAt(width / 2, FONT, fitted(title, width, FONT)), anchor: 'middle', isBold: true }] : []
  let y = title ? TITLE : 0
  for (const panel of panels) {
    if (panel.title) {
      shapes.push({ ...textAt(0, y + FONT, fitted(panel.title, width, FONT * BOLD)), isBold: true })
      const left = textWidth(panel.title, FONT, true) + 6
      if (panel.note && left + textWidth(panel.note, FONT) <= width)
        shapes.push({ ...textAt(left, y + FONT, panel.note), fill: 'chart-level' })
      y += TITLE
    }
    const height = panel.height(width)
    shapes.push(...moved(panel.shapes(width, height, PAPER), 0, y))
    y += height + GAP
  }
  return { shapes, height: y - GAP }
}

function rowOf(columns: readonly FigureColumn[], count: number, width: number): Placed {
  const own = (width - (count - 1) * GAP) / count
  const placed = columns.map((column) => columnOf(column, own))
  return {
    shapes: placed.flatMap(({ shapes }, index) => moved(shapes, index * (own + GAP), 0)),
    height: Math.max(...placed.map(({ height }) => height)),
  }
}

export interface FigureOptions {
  width: FigureWidth
  hasCaption?: boolean
}

/** The whole figure in points: legend, charts, what the x axis is, caption. */
export function figureScene(figure: Figure, { width: name, hasCaption = true }: FigureOptions): Scene {
  const width = WIDTHS_MM[name] * POINTS_PER_MM
  const inner = width - 2 * SIDE
  const abreast = Math.min(figure.columns.length, ABREAST[name])
  const parts: Placed[] = []
  if (figure.legend.length > 0) parts.push(legendShapes(figure.legend, inner, FONT))
  for (let first = 0; first < figure.columns.length; first += abreast)
    parts.push(rowOf(figure.columns.slice(first, first + abreast), abreast, inner))
  if (figure.xTitle) parts.push({ shapes: [{ ...textAt(inner / 2, FONT - 1, figure.xTitle), anchor: 'middle' }], height: LINE })
  if (hasCaption) {
    const lines = wrapped(figure.caption, inner * FILL, FONT)
    parts.push({ shapes: lines.map((text, index) => textAt(0, FONT + index * LINE, text)), height: lines.length * LINE })
  }
  let y = SIDE
  const shapes = parts.flatMap((part) => {
    const placed = moved(part.shapes, SIDE, y)
    y += part.height + GAP
    return placed
  })
  return { width, height: y - GAP + SIDE + 1, shapes }
}

export const figureSvg = (figure: Figure, options: FigureOptions): string =>
  svgText(figureScene(figure, options), figure.title, figure.caption)

export const figureCsv = (figure: Figure): string => csvText(figure.table)
