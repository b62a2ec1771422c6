import { expect, it } from 'vitest'
import { parseValues, setCount, valuesText } from './values'

const THRESHOLD = { name: 'threshold_percent', default: 35, low: 1, high: 100, unit: '%', meaning: 'norm from which it exits' }

it.each([
  ['35', [35]],
  ['40, 20,30,20', [20, 30, 40]],
  ['20..35 by 5', [20, 25, 30, 35]],
  ['20..34 by 5, 90', [20, 25, 30, 90]],
  ['1..1.3 by 0.1', [1, 1.1, 1.2, 1.3]],
])('“%s” is %o', (text, values) => expect(parseValues(text, THRESHOLD)).toEqual(values))

it.each([
  ['', 'at least one value'],
  ['a lot', '“a lot” is not a number'],
  ['20..30 by 0', '“20..30 by 0” is not a number'],
  ['30..20 by 5', 'is not a number'],
  ['1..100 by 0.0001', 'is not a number'],
  ['20, 101', 'threshold_percent must be from 1 to 100 %, not 101'],
])('“%s” is refused in words', (text, words) => expect(parseValues(text, THRESHOLD)).toContain(words))

it('a long list is told by its ends', () => {
  expect(valuesText([20, 25, 30])).toBe('20, 25, 30')
  expect(valuesText([1, 2, 3, 4, 5, 6, 7, 8, 9])).toBe('1 to 9 in 9 values')
})

it('a grid has the product of its lists', () => {
  expect(setCount({ a: [1, 2, 3], b: [1, 2] })).toBe(6)
  expect(setCount({})).toBe(1)
})
