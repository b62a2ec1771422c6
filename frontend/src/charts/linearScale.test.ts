import { expect, test } from 'vitest'
import { scaleLinear } from './linearScale'

test('a value lies in the range where it lies in the domain, also where the range goes down', () => {
  const scale = scaleLinear().domain([10, 30]).range([200, 100])
  expect([10, 15, 30, 50].map((value) => scale(value))).toEqual([200, 175, 100, 0])
  expect(scale.domain()).toEqual([10, 30])
  expect(scale.range()).toEqual([200, 100])
})

test('what is no number has no place, and a domain of one number is the middle', () => {
  const scale = scaleLinear().domain([5, 5]).range([0, 10])
  expect([null, undefined, Number.NaN].map((value) => scale(value))).toEqual([undefined, undefined, undefined])
  expect(scale(5)).toBe(5)
})

test('a copy changes by itself', () => {
  const first = scaleLinear().domain([0, 2])
  first.copy().domain([0, 4])
  expect(first(1)).toBe(0.5)
})
