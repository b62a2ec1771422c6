import { expect, test } from 'vitest'
import { dayAfter, hoursOf, hoursText, startOf, startText } from './clock'

test('a start is taken apart and put together again, also while a part is missing', () => {
  const start = { day: '2026-12-01', clock: '18:00', zone: 'Europe/Berlin' }
  expect(startOf('2026-12-01 18:00 Europe/Berlin')).toEqual(start)
  expect(startText(start)).toBe('2026-12-01 18:00 Europe/Berlin')
  expect(startOf(startText({ ...start, day: '' }))).toEqual({ ...start, day: '' })
  expect(startOf('tomorrow')).toBeNull()
})

test.each(['daily 01:00-05:00', 'weekdays 18:00-06:00', 'weekends 00:00-24:00', 'mon,thu 18:00-06:00'])('hours are kept: %s', (text) => {
  const hours = hoursOf(text)
  expect(hours && hoursText(hours)).toBe(text)
})

test('days that make a group have its name, in whatever order they were chosen', () => {
  expect(hoursText({ days: ['sun', 'sat'], opens: '00:00', closes: '24:00' })).toBe('weekends 00:00-24:00')
  expect(hoursText({ days: ['wed', 'mon'], opens: '18:00', closes: '06:00' })).toBe('mon,wed 18:00-06:00')
  expect(hoursOf(hoursText({ days: [], opens: '18:00', closes: '06:00' }))?.days).toEqual([])
})

test('what is no hours has no fields of its own', () => {
  expect(hoursOf('weekdays')).toBeNull()
  expect(hoursOf('monday 18:00-06:00')).toBeNull()
})

test('a day later is found over months and leap days', () => {
  expect(dayAfter('2028-02-28', 2)).toBe('2028-03-01')
  expect(dayAfter('', 1, Date.parse('2026-12-31T23:00Z'))).toBe('2027-01-01')
})
