import { expect, it } from 'vitest'
import { amount, choice, oneOf, sortOf, sortText, text, texts } from './search'

it.each([
  ['runs', 'runs'],
  ['nonsense', undefined],
  [3, undefined],
])('of %o the known tab is %s', (value, tab) => expect(oneOf(value, ['runs', 'plan'])).toBe(tab))

it('empty and foreign values are left out', () => {
  expect([text(''), text(3), text('a')]).toEqual([undefined, undefined, 'a'])
  expect([texts([]), texts('a'), texts(['a', 3])]).toEqual([undefined, undefined, ['a']])
})

it('a choice may be empty, an amount may be zero', () => {
  expect([choice([]), choice(['a', 3]), choice('a')]).toEqual([[], ['a'], undefined])
  expect([amount(0), amount(2.5), amount(-1), amount('2')]).toEqual([0, 2.5, undefined, undefined])
})

it('a sort survives the way through the address', () => {
  const sorting = [{ id: 'ended_at', desc: true }]
  expect(sortOf(sortText(sorting))).toEqual(sorting)
  expect(sortOf('drop table')).toEqual([])
  expect(sortText([])).toBeUndefined()
})
