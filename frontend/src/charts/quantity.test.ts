import { describe, expect, it } from 'vitest'
import { pathsOf, placer, rangeOf, stretchesOf } from './quantity'

const bin = (at_s: number, mean: number, spread = 0) => ({ at_s, low: mean - spread, mean, high: mean + spread })

describe('a strip of a quantity', () => {
  it('has a gap where nothing was observed for long', () => {
    const stretches = stretchesOf([0, 10, 20, 120, 130].map((at_s) => bin(at_s, 1)))
    expect(stretches.map((stretch) => stretch.map(({ at_s }) => at_s))).toEqual([
      [0, 10, 20],
      [120, 130],
    ])
    expect(stretchesOf([])).toEqual([])
  })

  it('reaches from the least to the greatest value, below zero too', () => {
    expect(rangeOf([bin(0, -4, 1), bin(1, 2)])).toEqual([-5, 2])
    expect(rangeOf([bin(0, 0)])).toEqual([0, 1])
    expect(rangeOf([bin(0, -10)])).toEqual([-11, -9])
  })

  it('draws the mean as a line within its band', () => {
    const place = placer({ left: 10, top: 0, width: 100, height: 50 }, 0, 10, [0, 2])
    expect(pathsOf([bin(0, 1, 1), bin(10, 1)], place)).toEqual({
      mean: 'M10.0,25.0L110.0,25.0',
      band: 'M10.0,0.0L110.0,25.0L110.0,25.0L10.0,50.0Z',
    })
  })
})
