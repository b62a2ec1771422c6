import { expect, it } from 'vitest'
import { nearest } from './RunFinder'

const places = [
  { id: 'left', left: 100, top: 50 },
  { id: 'right', left: 110, top: 50 },
]

it('the nearest run within reach is meant, and none beyond it', () => {
  expect(nearest(places, 104, 52)).toBe('left')
  expect(nearest(places, 106, 52)).toBe('right')
  expect(nearest(places, 160, 50)).toBeNull()
  expect(nearest([], 0, 0)).toBeNull()
})
