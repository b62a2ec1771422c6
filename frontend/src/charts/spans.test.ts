import { expect, it } from 'vitest'
import { spanScale } from './spans'

it('zero is on the scale, wherever the values lie', () => {
  expect(spanScale([3, 8])).toMatchObject({ min: 0, max: 10 })
  expect(spanScale([-8, -3])).toMatchObject({ min: -10, max: 0 })
  expect(spanScale([-1.5, 4]).ticks).toEqual([-2, 0, 2, 4, 6])
})

it('missing values count for nothing, and nothing gives a scale all the same', () => {
  expect(spanScale([null, Number.NaN])).toMatchObject({ min: 0, max: 1.2 })
})
