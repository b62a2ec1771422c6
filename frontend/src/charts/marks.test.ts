import { expect, it } from 'vitest'
import { FLAG_WIDTH, type Mark, placeMarks } from './marks'

const PLOT = { left: 100, top: 0, width: 1000, height: 100 }
const mark = (id: string, x: number): Mark => ({ id, x, code: id, label: id, style: 0, glyph: 'square' })

it('a mark stands at its x; far apart they share the first row', () => {
  const placed = placeMarks([mark('b', 5), mark('a', 2.5)], PLOT, 0, 10)
  expect(placed.map(({ id, left, row }) => [id, left, row])).toEqual([
    ['a', 350, 0],
    ['b', 600, 0],
  ])
})

it('flags that would overlap go one row down, and up again when there is room', () => {
  const placed = placeMarks([mark('a', 1), mark('b', 1.1), mark('c', 1.2), mark('d', 1.1 + FLAG_WIDTH / 100)], PLOT, 0, 10)
  expect(placed.map(({ row }) => row)).toEqual([0, 1, 2, 0])
})

it('at the right edge the code stands before its glyph, and needs its room there', () => {
  const placed = placeMarks([mark('a', 9.7), mark('end', 10)], PLOT, 0, 10)
  expect(placed.map(({ row, isBefore }) => [row, isBefore])).toEqual([
    [0, false],
    [1, true],
  ])
})

it('marks outside the zoom are left out, on its edges they stay', () => {
  expect(placeMarks([mark('a', 1), mark('b', 2), mark('c', 3.01)], PLOT, 2, 3).map(({ id }) => id)).toEqual(['b'])
})
