import { describe, expect, it } from 'vitest'
import { PAPER } from './plot'
import type { DotShape, PathShape } from './scene'
import { boxOf, cumulative, quantile, type SpreadRow, spreadSpan } from './spread'
import { spreadShapes } from './spreadShapes'

const row = (values: number[], open: number[] = []): SpreadRow => ({
  id: 'a',
  label: 'A',
  style: 0,
  dots: [...values.map((value) => ({ value, isOpen: false })), ...open.map((value) => ({ value, isOpen: true }))],
})

it.each([
  [[1, 2, 3, 4], 0.5, 2.5],
  [[1, 2, 3, 4], 0.25, 1.75],
  [[7], 0.75, 7],
])('the quantiles of %j at %d is %d, as numpy and R have it', (sorted, share, found) => expect(quantile(sorted, share)).toBe(found))

describe('a box', () => {
  it('has the middle half, the median, and whiskers to the last values within 1.5 of its length', () =>
    expect(boxOf(row([5, 1, 2, 3, 4, 40]).dots)).toEqual({ low: 1, first: 2.25, median: 3.5, third: 4.75, high: 5 }))
  it('is not drawn of four runs, nor where a run was not watched long enough', () => {
    expect(boxOf(row([1, 2, 3, 4]).dots)).toBeNull()
    expect(boxOf(row([1, 2, 3, 4, 5], [6]).dots)).toBeNull()
  })
})

it.each([
  [
    [3, 9],
    [0, 10],
  ],
  [
    [80.2, 84.9],
    [80, 85],
  ],
  [
    [-2, 5],
    [-2, 6],
  ],
  [
    [5, 5],
    [4, 6],
  ],
  [
    [0, 0],
    [0, 0.2],
  ],
])('an axis for %j goes %j', (values, span) => expect(spreadSpan([row(values)])).toEqual(span))

it('a run that did not come to it keeps its line below 100 %', () => {
  const { x, curves } = cumulative([row([2, 4], [9, 9])], 0, 10)
  expect(x).toEqual([0, 2, 4, 10])
  expect(curves.map(({ label, y }) => [label, y])).toEqual([['A (n = 4)', [0, 25, 50, 50]]])
})

it('there is a dot for each run at its value, hollow where it is only the time watched', () => {
  const shapes = spreadShapes({ rows: [row([0, 10], [5])], from: 0, to: 10 }, 200, PAPER)
  const dots = shapes.filter((shape): shape is DotShape => shape.is === 'dot')
  const side = 2.7 * PAPER.font
  expect(dots.map(({ x, fill }) => [x, fill])).toEqual([
    [side, 'series-1'],
    [200 - side, 'series-1'],
    [100, 'surface'],
  ])
  expect(shapes.some((shape) => shape.is === 'text' && shape.text === 'A (n = 3)')).toBe(true)
})

it('boxes stand where there are five runs', () => {
  const paths = (values: number[]) =>
    spreadShapes({ rows: [row(values)], from: 0, to: 10 }, 200, PAPER).filter(
      (one): one is PathShape => one.is === 'path' && one.series === 'a',
    )
  expect(paths([1, 2, 3, 4])).toHaveLength(0)
  expect(paths([1, 2, 3, 4, 5])).toHaveLength(3)
})
