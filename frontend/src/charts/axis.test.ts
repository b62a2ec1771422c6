import { expect, it } from 'vitest'
import { valueAxis } from './axis'
import type { BandSeries } from './bands'

const series: BandSeries[] = [
  { id: 'a', label: 'A', style: 0, x: [0, 1], band: { mean: [40e6, 100e6], low: [null, 80e6], high: [null, 120e6], n: [1, 3] } },
]
const facts = { series, from: 0, to: 1, hasBands: true, factor: 1e-6 }

it('holds the interval, in the shown unit', () => {
  expect(valueAxis(facts)).toMatchObject({ scale: { max: 125 }, isCut: false, isLevelShown: false })
})

it.each([
  [144e6, true, 150],
  [300e6, true, 300],
  [301e6, false, 125],
])('a level at %s is drawn: %s', (value, isLevelShown, max) => {
  expect(valueAxis({ ...facts, level: { value, label: 'nominal rate' } })).toMatchObject({ isLevelShown, scale: { max } })
})

it('an interval many times wider than the means is cut, and that is known', () => {
  const wide = [{ ...(series[0] as BandSeries), band: { mean: [10, 10], low: [null, 0], high: [null, 90], n: [1, 2] } }]
  expect(valueAxis({ ...facts, series: wide, factor: 1 })).toMatchObject({ scale: { max: 15 }, isCut: true })
})

it('a share never needs an axis beyond its limit', () => {
  const share = [{ ...(series[0] as BandSeries), band: { mean: [99, 98], low: [null, 0], high: [null, 180], n: [1, 2] } }]
  expect(valueAxis({ ...facts, series: share, factor: 1, limit: 100 })).toMatchObject({ scale: { max: 100 }, isCut: true })
})
