import { describe, expect, it } from 'vitest'
import { formatBytes, formatEstimate, formatNumber, formatSigned, NO_VALUE, plural } from './format'

describe('numbers carry about three significant digits', () => {
  it.each([
    [0, '0'],
    [0.00000004, '0.000'],
    [0.00000123, '0.0000012'],
    [0.00042, '0.00042'],
    [0.000999, '0.0010'],
    [0.00421, '0.0042'],
    [0.00996, '0.010'],
    [0.0421, '0.042'],
    [0.421, '0.42'],
    [4.216, '4.22'],
    [9.999, '10.0'],
    [42.16, '42.2'],
    [421.6, '422'],
    [42160, '42,160'],
    [-42.5, '−42.5'],
    [null, NO_VALUE],
    [Number.NaN, NO_VALUE],
  ])('%s is shown as %s', (value, text) => expect(formatNumber(value)).toBe(text))
})

describe('estimates', () => {
  it.each([
    [{ mean: 83.12e6, low: 79e6, high: 87.24e6, n: 3 }, '83.1 (79.0–87.2)'],
    [{ mean: 8.18e6, low: 1.433e6, high: 46.9e6, n: 2 }, '8.18 (1.43–46.9)'],
    [{ mean: 8.18e6, low: 0.0012e6, high: 2469e6, n: 2 }, '8.18 (0.00–2,469)'],
    [{ mean: 5e6, low: -2e6, high: 12e6, n: 2 }, '5.00 (−2.00 to 12.0)'],
    [{ mean: 83.12e6, low: null, high: null, n: 1 }, '83.1'],
    [{ mean: null, low: null, high: null, n: 0 }, NO_VALUE],
    [null, NO_VALUE],
  ])('%o reads %s Mb/s', (estimate, text) => expect(formatEstimate(estimate, 1e-6)).toBe(text))
})

describe('differences keep their sign', () => {
  it.each([
    [12.13, '+12.1'],
    [-3, '−3.00'],
    [0, '0'],
    [-0.0001, '−0.00010'],
    [-0.0000001, '0.000'],
  ])('%s reads %s', (value, text) => expect(formatSigned(value)).toBe(text))
})

describe('bytes are decimal', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [999_999, '1.00 MB'],
    [20_000_000_000, '20.0 GB'],
  ])('%s reads %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))
})

it('counts agree with their noun', () => {
  expect(plural(1, 'run')).toBe('1 run')
  expect(plural(1200, 'run')).toBe('1,200 runs')
  expect(plural(2, 'condition is', 'conditions are')).toBe('2 conditions are')
})
