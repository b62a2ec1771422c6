import { expect, it } from 'vitest'
import { formatDayAndClock, formatDuration, formatInstant, formatMoment, formatRelative, secondsBetween } from './time'

it.each([
  [0, '0 s'],
  [35, '35 s'],
  [60, '1 min'],
  [252, '4 min 12 s'],
  [12_000, '3 h 20 min'],
  [187_200, '2 d 4 h'],
  [3601, '1 h'],
  [null, '–'],
])('%s seconds read %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text))

it('moments are shown in UTC whatever offset they came with', () => {
  expect(formatMoment('2026-01-02T03:04:05.678Z')).toBe('2 Jan 2026, 03:04:05 UTC')
  expect(formatMoment('2026-01-02T05:04:05+02:00')).toBe('2 Jan 2026, 03:04:05 UTC')
})

it('events have milliseconds, columns their day', () => {
  expect(formatInstant('2026-01-02T03:04:05.078Z')).toBe('2 Jan 2026, 03:04:05.078 UTC')
  expect(formatDayAndClock('2026-01-02T03:04:05Z')).toBe('2 Jan, 03:04:05')
  expect([formatInstant(null), formatDayAndClock(null)]).toEqual(['–', '–'])
})

it.each([
  ['2026-01-02T03:04:03Z', 'just now'],
  ['2026-01-02T03:03:25Z', '40 s ago'],
  ['2026-01-02T03:01:05Z', '3 min ago'],
  ['2026-01-02T05:04:05Z', 'in 2 h'],
  ['2025-12-30T03:04:05Z', '3 d ago'],
  [null, 'never'],
])('%s is %s', (at, text) => expect(formatRelative(at, Date.parse('2026-01-02T03:04:05Z'))).toBe(text))

it('elapsed seconds need both moments', () => {
  expect(secondsBetween('2026-01-02T03:04:05Z', '2026-01-02T03:04:40Z')).toBe(35)
  expect(secondsBetween('2026-01-02T03:04:05Z', null)).toBeNull()
})
