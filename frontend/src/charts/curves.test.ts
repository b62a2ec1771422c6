import { expect, it } from 'vitest'
import { curveBounds, distributions, valueAt } from './curves'

const x = [0.1, 0.4, 1.2]
const curve = { id: 'norm', label: 'norm', style: 0, y: [null, -0.1, 0.3] }

it('bounds count what is shown only', () => {
  expect(curveBounds(x, [curve], 0, 2)).toEqual([-0.1, 0.3])
  expect(curveBounds(x, [curve], 0, 1)).toEqual([-0.1, -0.1])
  expect(curveBounds(x, [curve], 0, 0.2)).toBeNull()
})

it.each([
  [0, null],
  [0.1, null],
  [0.39, null],
  [0.4, -0.1],
  [1.19, -0.1],
  [9, 0.3],
])('at %d s the value of the last point holds: %s', (at, value) => expect(valueAt(x, curve.y, at)).toBe(value))

it('a distribution counts runs without an exit: of 4 runs with exits at 1, 1 and 3 s it reaches 75 %', () => {
  const { x: axis, y } = distributions([{ sorted: [1, 1, 3], total: 4 }], 5)
  expect(axis).toEqual([0, 1, 3, 5])
  expect(y).toEqual([[0, 50, 75, 75]])
})

it('distributions share their x, and an exit at the start counts from the start', () => {
  const { x: axis, y } = distributions(
    [
      { sorted: [0, 2], total: 2 },
      { sorted: [1], total: 2 },
    ],
    3,
  )
  expect(axis).toEqual([0, 1, 2, 3])
  expect(y).toEqual([
    [50, 50, 100, 100],
    [0, 50, 50, 50],
  ])
})
