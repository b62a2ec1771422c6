import { expect, it } from 'vitest'
import { stackBins, stepAreas } from './stepAreas'

it('layers add up from zero; a bin that lacks one has none', () => {
  expect(
    stackBins(
      [
        [0.25, null, 0],
        [0.75, 1, 1],
      ],
      3,
    ),
  ).toEqual([[0, 0.25, 1], null, [0, 0, 1]])
})

it('each bin is a box as wide as a second, gaps and empty layers are left out', () => {
  const [first, second] = stepAreas(
    [
      [0.25, null, 0],
      [0.75, 1, 1],
    ],
    [5, 6, 7],
    (x) => 10 * x,
    (share) => 100 - 100 * share,
  )
  expect(first).toBe('M50 100V75H60V100Z')
  expect(second).toBe('M50 75V0H60V75ZM70 100V0H80V100Z')
})
