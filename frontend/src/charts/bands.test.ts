import { describe, expect, it } from 'vitest'
import { type BandSeries, bandMaximum, isBandCut, isolatedIndices, mergeBands, readingAt } from './bands'

function makeSeries(x: number[], mean: (number | null)[], half: number | null = 1): BandSeries {
  const low = mean.map((value) => (value === null || half === null ? null : value - half))
  const high = mean.map((value) => (value === null || half === null ? null : value + half))
  return { id: 'a', label: 'A', style: 0, x, band: { mean, low, high, n: mean.map((v) => (v === null ? 0 : 3)) } }
}

describe('merging', () => {
  it('aligns series by x, not by place', () => {
    const rows = mergeBands([makeSeries([0, 1], [10, 20]), makeSeries([1, 2], [5, 6])], 0.1)
    expect(rows.map((row) => [row.x, row.mean_0, row.mean_1])).toEqual([
      [0, 1, null],
      [1, 2, 0.5],
      [2, null, 6 * 0.1],
    ])
  })

  it('an absent bin becomes a row without a value, never a bridge', () => {
    expect(mergeBands([makeSeries([0, 3], [1, 1])]).map((row) => row.mean_0)).toEqual([1, null, null, 1])
  })

  it('a single run has a mean and no band', () => {
    expect(mergeBands([makeSeries([0], [4], null)])[0]).toEqual({ x: 0, mean_0: 4, band_0: null })
  })

  it('the runs behind a mean become lines of their own', () => {
    const few = makeSeries([0, 1], [10, 20])
    few.band.runs = [
      [9, null],
      [11, 20],
    ]
    expect(mergeBands([few], 2).map((row) => [row.run_0_0, row.run_0_1])).toEqual([
      [18, 22],
      [null, 40],
    ])
    expect(bandMaximum([few], 0, 0, true)).toBe(11)
    expect(bandMaximum([few], 0, 0, false)).toBe(10)
    expect(isBandCut([few], 0, 1, 1)).toBe(false)
  })

  it('no series give no rows', () => expect(mergeBands([])).toEqual([]))
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
