import type { Sweep, SweepCell } from '@/api/types'
import type { HeatCell } from '@/charts/gridShapes'
import { formatNumber } from '@/lib/format'
import { PERCENT, shareText } from '../campaign/groups'

/** What the two axes of a heatmap are, and at which value the other parameters are held. */
export interface Axes {
  x: string
  y: string | null
  held: Record<string, number>
}

export interface AxesAsked {
  x?: string | undefined
  y?: string | undefined
  /** "bins=10" for each held parameter. */
  at?: string[] | undefined
}

/** The axes that the address asks for where the sweep has them; else its first two parameters with several values. */
export function axesOf({ grid }: Pick<Sweep, 'grid'>, asked: AxesAsked): Axes {
  const names = Object.keys(grid).sort((a, b) => Number((grid[b]?.length ?? 0) > 1) - Number((grid[a]?.length ?? 0) > 1))
  const x = names.find((name) => name === asked.x) ?? names.find((name) => name !== asked.y) ?? ''
  const others = names.filter((name) => name !== x)
  const y = others.find((name) => name === asked.y) ?? others[0] ?? null
  const wishes = new Map(asked.at?.map((wish) => [wish.slice(0, wish.lastIndexOf('=')), Number(wish.slice(wish.lastIndexOf('=') + 1))]))
  const held = others.filter((name) => name !== y).map((name) => [name, heldValue(grid[name] ?? [], wishes.get(name))])
  return { x, y, held: Object.fromEntries(held) }
}

function heldValue(values: readonly number[], wish: number | undefined): number {
  return values.find((value) => value === wish) ?? values[0] ?? 0
}

/** The cells of the chosen plane: a row per value of y, a column per value of x. */
export function planeOf({ grid, cells }: Pick<Sweep, 'grid' | 'cells'>, { x, y, held }: Axes): (SweepCell | null)[][] {
  const key = (parameters: Record<string, number>) =>
    Object.keys(grid)
      .map((name) => parameters[name])
      .join()
  const found = new Map(cells?.map((cell) => [key(cell.parameters), cell]))
  const rows = y === null ? [null] : (grid[y] ?? [])
  return rows.map((row) =>
    (grid[x] ?? []).map((column) => found.get(key({ ...held, [x]: column, ...(y && row !== null ? { [y]: row } : {}) })) ?? null),
  )
}

export const MEASURES = [
  { name: 'good', title: 'Success, %', says: 'exits between capacity and first loss' },
  { name: 'early', title: 'Early, %', says: 'exits before capacity' },
  { name: 'late', title: 'Late, %', says: 'not before the first loss' },
  { name: 'headroom_s', title: 'Headroom, s', says: 'median time from a good exit to the loss' },
] as const
export type Measure = (typeof MEASURES)[number]['name']

/** One measure of a cell with what a pointer is told; null where no trace has it. */
export function heatCell(cell: SweepCell | null, measure: Measure): HeatCell | null {
  if (!cell) return null
  const set = Object.entries(cell.parameters)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
  if (measure === 'headroom_s') {
    const value = cell.headroom_s
    return value === null ? null : { value, text: formatNumber(value, 2), detail: `${set}: ${formatNumber(value)} s` }
  }
  const share = cell.shares?.[measure]
  if (!share) return null
  const percent = share.value * PERCENT
  return { value: percent, text: formatNumber(percent, 0), detail: `${set}: ${shareText(share, PERCENT)}, n = ${share.n}` }
}

/** Ends of the colour scale: shares from 0 to 100 so that maps compare; headroom from 0 to its largest. */
export function scaleOf(measure: Measure, cells: readonly (readonly (HeatCell | null)[])[]): [number, number] {
  return measure === 'headroom_s' ? [0, Math.max(0, ...cells.flat().map((cell) => cell?.value ?? 0))] : [0, 100]
}
