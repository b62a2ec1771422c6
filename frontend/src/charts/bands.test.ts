import { describe, expect, it } from 'vitest'
import { type BandSeries, bandMaximum, isBandCut, isolatedIndices, mergeBands, placeAt, readingAt } from './bands'

function makeSeries(x: number[], mean: (number | null)[], half: number | null = 1): BandSeries {
  const low = mean.map((value) => (value === null || half === null ? null : value - half))
  const high = mean.map((value) => (value === null || half === null ? null : value + half))
  return { id: 'a', label: 'A', style: 0, x, band: { mean, low, high, n: mean.map((v) => (v === null ? 0 : 3)) } }
}

describe('the single runs', () => {
  it('count for the axis instead of an interval', () => {
    const few = makeSeries([0, 1], [10, 20])
    few.band.runs = [
      [9, null],
      [11, 20],
    ]
    expect(bandMaximum([few], 0, 0, true)).toBe(11)
    expect(bandMaximum([few], 0, 0, false)).toBe(10)
    expect(isBandCut([few], 0, 1, 1)).toBe(false)
  })
})

describe('the maximum', () => {
  const series = [makeSeries([0, 1, 2], [1, 9, 4], 2)]
  it.each([
    [0, 2, true, 11],
    [0, 0, true, 1.35],
    [0, 2, false, 9],
    [2, 2, true, 5.4],
    [5, 9, true, 0],
  ])('from %s to %s, bands %s, is %s', (from, to, withBands, max) => {
    expect(bandMaximum(series, from, to, withBands)).toBeCloseTo(max)
  })
})

it.each([
  [
    [1, null, 2, null, null, 3, 4],
    [0, 2],
  ],
  [[1], [0]],
  [[1, 2], []],
  [[null, null], []],
])('in %o the points %o stand alone', (values, isolated) => expect([...isolatedIndices(values)]).toEqual(isolated))

it('an interval beyond the axis is cut, one outside the shown stretch is not', () => {
  const series = [makeSeries([0, 1, 2], [1, 9, 4], 2)]
  expect([isBandCut(series, 0, 2, 10), isBandCut(series, 0, 2, 11), isBandCut(series, 2, 2, 10)]).toEqual([true, false, false])
})

it('a reading outside the series is null, inside a gap it is empty', () => {
  const series = makeSeries([0, 1], [1, null])
  expect(readingAt(series, 7)).toBeNull()
  expect(readingAt(series, 1)).toEqual({ mean: null, low: null, high: null, n: 0 })
  expect(readingAt(series, 0)).toEqual({ mean: 1, low: 0, high: 2, n: 3 })
})

it('of uneven steps the nearest one is read, no row is between them, and nothing is read beyond the end', () => {
  const sizes = { ...makeSeries([99, 100, 110, 120], [1, 2, 3, 4]), isUneven: true }
  expect([99, 104, 106, 120, 121].map((x) => readingAt(sizes, x)?.mean)).toEqual([1, 2, 3, 4, undefined])
  expect(placeAt(sizes, 117)).toBe(3)
  expect(
    mergeBands([sizes, { ...makeSeries([99, 100], [5, 6]), isUneven: true }]).map(({ x, mean_0, mean_1 }) => [x, mean_0, mean_1]),
  ).toEqual([
    [99, 1, 5],
    [100, 2, 6],
    [110, 3, null],
    [120, 4, null],
  ])
})
