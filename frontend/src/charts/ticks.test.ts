import { describe, expect, it } from 'vitest'
import { closeScale, roundStep, timeTicks, valueScale } from './ticks'

describe('value scales end at a round number that holds the maximum', () => {
  it.each([
    [144, [0, 50, 100, 150], 0],
    [100, [0, 25, 50, 75, 100], 0],
    [0.31, [0, 0.1, 0.2, 0.3, 0.4], 1],
    [6.29, [0, 2, 4, 6, 8], 0],
    [9.2, [0, 2.5, 5, 7.5, 10], 1],
    [1200, [0, 500, 1000, 1500], 0],
    [0.012, [0, 0.005, 0.01, 0.015], 3],
  ])('%s', (max, ticks, decimals) => {
    expect(valueScale(max, 4)).toEqual({ min: 0, max: ticks.at(-1), ticks, decimals })
  })

  it.each([0, -3, Number.NaN, Number.POSITIVE_INFINITY])('without data (%s) the scale is 0 to 1', (max) => {
    expect(valueScale(max).max).toBe(1)
  })
})

it.each([
  [0, 35, [0, 5, 10, 15, 20, 25, 30, 35]],
  [0, 120, [0, 15, 30, 45, 60, 75, 90, 105, 120]],
  [60, 120, [60, 70, 80, 90, 100, 110, 120]],
  [0, 15, [0, 2, 4, 6, 8, 10, 12, 14]],
  [0.5, 6.5, [1, 2, 3, 4, 5, 6]],
])('times from %s to %s s', (from, to, ticks) => expect(timeTicks(from, to)).toEqual(ticks))

it('a step never needs more intervals than asked', () => {
  for (const span of [1, 3, 7, 11, 99, 101, 12_345]) expect(span / roundStep(span, 4)).toBeLessThanOrEqual(4 + 1e-9)
})

it('a close axis is near its values, and never below zero', () => {
  const scale = closeScale([25, null, 27])
  expect(scale.min).toBeGreaterThan(24)
  expect(scale.max).toBeLessThan(28)
  expect(closeScale([0.01, 0.02]).min).toBe(0)
  expect(closeScale([null]).ticks.length).toBeGreaterThan(1)
})
