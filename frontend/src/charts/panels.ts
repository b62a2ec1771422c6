import { type BandSeries, hasRuns, readingAt } from './bands'
import { type BinRow, type BinTick, binRowsHeight, binRowsShapes } from './binShapes'
import { type BandBox, bandShapes, type CurveBox, curveShapes } from './chartShapes'
import type { Curve } from './curves'
import { type DayBox, dayShapes, type RowsBox, rowsHeight, rowsShapes } from './dayShapes'
import type { FigurePanel } from './figure'
import { gridHeight, gridShapes, type HeatGrid } from './gridShapes'
import { PAPER } from './plot'
import { type BarRow, barShapes, barsHeight, type ForestRow, forestHeight, forestShapes } from './rowShapes'
import { type SpreadBox, spreadHeight, spreadShapes } from './spreadShapes'
import type { Cell, Table } from './table'
import { type EventBox, eventShapes, eventsHeight, type ShareBox, shareShapes } from './timeShapes'

interface Head {
  title: string
  unit: string
  note?: string | undefined
}

/** "Throughput (Mb/s)". */
export const withUnit = (title: string, unit: string) => (unit ? `${title} (${unit})` : title)

const titleOf = ({ title, unit, note }: Head) => ({ title: withUnit(title, unit), note })

/** Points: a chart's plot of 60 is a little over 2 cm. isTall: the first of a stack. */
const plotHeight = (box: { hasTimeAxis: boolean; areWindowsNamed?: boolean | undefined }, isTall = false) =>
  (isTall ? 84 : 56) + (box.hasTimeAxis ? PAPER.timeAxis : 0) + (box.areWindowsNamed ? PAPER.names : 0)

type Sizeless<Box> = Omit<Box, 'width' | 'height' | 'look'>

export const bandPanel = (head: Head, box: Sizeless<BandBox>, isTall = false): FigurePanel => ({
  ...titleOf(head),
  height: () => plotHeight(box, isTall),
  shapes: (width, height, look) => bandShapes({ ...box, width, height, look }),
})

export const curvePanel = (head: Head, box: Sizeless<CurveBox>, isTall = false): FigurePanel => ({
  ...titleOf(head),
  height: () => plotHeight(box, isTall),
  shapes: (width, height, look) => curveShapes({ ...box, width, height, look }),
})

export const heatPanel = (grid: HeatGrid): FigurePanel => ({
  title: grid.title,
  note: grid.xName,
  height: (width) => gridHeight(grid, width, PAPER),
  shapes: (width, _height, look) => gridShapes(grid, width, look),
})

export const forestPanel = (head: Head, rows: readonly ForestRow[]): FigurePanel => ({
  ...titleOf(head),
  height: () => forestHeight(rows.length, PAPER),
  shapes: (width, _height, look) => forestShapes(rows, width, look),
})

export const spreadPanel = (head: Head, box: SpreadBox): FigurePanel => ({
  ...titleOf(head),
  height: () => spreadHeight(box.rows.length, PAPER),
  shapes: (width, _height, look) => spreadShapes(box, width, look),
})

export const barsPanel = (title: string, rows: readonly BarRow[]): FigurePanel => ({
  title,
  height: () => barsHeight(rows.length, PAPER),
  shapes: (width, _height, look) => barShapes(rows, width, look),
})

export const binsPanel = (title: string, rows: readonly BinRow[], ticks: readonly BinTick[]): FigurePanel => ({
  title,
  height: () => binRowsHeight(rows.length, PAPER),
  shapes: (width, _height, look) => binRowsShapes(rows, ticks, width, look),
})

export const sharePanel = (head: Head, box: Sizeless<ShareBox>): FigurePanel => ({
  ...titleOf(head),
  height: () => plotHeight({ hasTimeAxis: true }, true),
  shapes: (width, height, look) => shareShapes({ ...box, width, height, look }),
})

export const eventPanel = (head: Head, box: Sizeless<EventBox>): FigurePanel => ({
  ...titleOf(head),
  height: () => eventsHeight(box.rows.length, PAPER),
  shapes: (width, _height, look) => eventShapes({ ...box, width, look }),
})

export const dayPanel = (head: Head, box: Sizeless<DayBox>, isTall = false): FigurePanel => ({
  ...titleOf(head),
  height: () => plotHeight({ hasTimeAxis: box.hasTimeAxis, areWindowsNamed: box.areNotesNamed }, isTall),
  shapes: (width, height, look) => dayShapes({ ...box, width, height, look }),
})

export const dayRowsPanel = (title: string, box: Sizeless<RowsBox>): FigurePanel => ({
  title,
  height: () => rowsHeight(box.rows.length, PAPER),
  shapes: (width, _height, look) => rowsShapes({ ...box, width, look }),
})

/** One quantity of a table of bands. */
export interface BandColumn {
  title: string
  unit: string
  factor: number
  series: readonly BandSeries[]
  hasBands: boolean
}

/** A row per series and x: of each quantity the mean, its interval or the single runs where they are drawn, and n. */
export function bandTable(xHead: string, columns: readonly BandColumn[], from: number, to: number): Table {
  const ids = [...new Set(columns.flatMap(({ series }) => series.map(({ label }) => label)))]
  const parts = columns.map(columnParts)
  const rows = ids.flatMap((label) => {
    const own = columns.map(({ series }) => series.find((one) => one.label === label))
    const xs = [...new Set(own.flatMap((one) => one?.x ?? []))].filter((x) => x >= from && x <= to).sort((a, b) => a - b)
    return xs.map((x): Cell[] => [label, x, ...parts.flatMap(({ cells }, index) => cells(own[index], x))])
  })
  return { heads: ['Series', xHead, ...parts.flatMap(({ heads }) => heads)], rows }
}

function columnParts({ title, unit, factor, series, hasBands }: BandColumn) {
  const runs = hasBands ? Math.max(0, ...series.map((one) => (hasRuns(one) ? (one.band.runs?.length ?? 0) : 0))) : 0
  const banded = hasBands && series.some((one) => !hasRuns(one))
  const head = (word: string) => withUnit(`${title}${word}`, unit)
  const places = Array.from({ length: runs }, (_, index) => index)
  const scaled = (value: number | null | undefined) => (value == null ? null : value * factor)
  return {
    heads: [head(''), ...(banded ? [head(' low'), head(' high')] : []), ...places.map((place) => head(` run ${place + 1}`)), `${title} n`],
    cells: (one: BandSeries | undefined, x: number): Cell[] => {
      const reading = one ? readingAt(one, x) : null
      const isBanded = one !== undefined && !hasRuns(one)
      const interval = banded ? [reading?.low, reading?.high].map((end) => (isBanded ? scaled(end) : null)) : []
      const at = one ? one.x.indexOf(x) : -1
      const single = places.map((place) => (isBanded ? null : scaled(one?.band.runs?.[place]?.[at])))
      return [scaled(reading?.mean), ...interval, ...single, reading?.n ?? 0]
    },
  }
}

/** Curves over their own x, in the shown unit. */
export interface CurveColumn {
  unit: string
  factor: number
  x: readonly number[]
  curves: readonly Curve[]
  /** Before a curve's name, where its own says too little. */
  title?: string
}

/** A row per x, a column per curve; where a curve has no point at an x, nothing. */
export function curveTable(xHead: string, columns: readonly CurveColumn[], from: number, to: number): Table {
  const all = columns.flatMap(({ x, curves, unit, factor, title }) =>
    curves.map((curve) => ({
      head: withUnit(title ? `${title}: ${curve.label}` : curve.label, unit),
      at: new Map(x.map((one, index) => [one, curve.y[index]])),
      factor,
    })),
  )
  const xs = [...new Set(columns.flatMap(({ x }) => [...x]))].filter((x) => x >= from && x <= to).sort((a, b) => a - b)
  const rows = xs.map((x): Cell[] => [
    x,
    ...all.map(({ at, factor }) => {
      const value = at.get(x)
      return value == null ? null : value * factor
    }),
  ])
  return { heads: [xHead, ...all.map(({ head }) => head)], rows }
}

/** A row per cell of the maps. */
export function heatTable(grids: readonly { grid: HeatGrid; factor: number }[]): Table {
  const [first] = grids
  const { xName = '', yName = null, xs = [], ys = [] } = first?.grid ?? {}
  const rows = ys.length > 0 ? ys : ['']
  return {
    heads: [...(yName ? [yName] : []), xName, ...grids.map(({ grid }) => titleWithUnit(grid.title))],
    rows: rows.flatMap((y, row) =>
      xs.map((x, column): Cell[] => [
        ...(yName ? [y] : []),
        x,
        ...grids.map(({ grid, factor }) => {
          const cell = grid.cells[row]?.[column]
          return cell ? cell.value * factor : null
        }),
      ]),
    ),
  }
}

/** "Throughput difference, Mb/s" as a head: "Throughput difference (Mb/s)". */
const titleWithUnit = (title: string) => title.replace(/, (\S+)$/, ' ($1)')
