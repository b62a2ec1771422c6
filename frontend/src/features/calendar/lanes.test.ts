import { expect, it } from 'vitest'
import type { CalendarLane } from '@/api/types'
import { carriedText, daysOf, laneText, shifted, stripCells } from './lanes'
import { parseCalendarSearch } from './search'

const calendar = { from_at: '2026-02-27T00:00:00Z', to_at: '2026-03-02T00:00:00Z', cell_s: 3600 }

it('days follow each other over the end of a month', () => {
  expect(daysOf(calendar)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
  expect(shifted('2026-03-01', -7)).toBe('2026-02-22')
})

it('an address that makes no sense shows this week', () => {
  expect(parseCalendarSearch({ from: '2026-13-40', days: 12 })).toEqual({ from: undefined, days: undefined })
  expect(parseCalendarSearch({ from: '2026-03-02', days: 28 })).toEqual({ from: '2026-03-02', days: 28 })
})

it('runs that did not end well lie above the others, whatever their number', () => {
  const cells: CalendarLane['cells'] = [
    { at: '2026-02-27T03:00:00Z', counts: { complete: 3, planned: 1, failed: 2 } },
    { at: '2026-02-28T00:00:00Z', counts: { missed: 1 } },
  ]
  const [mixed, missed] = stripCells({ cells }, calendar)
  const [bad, ...others] = mixed?.blocks ?? []
  expect([bad?.tone, bad?.x, bad?.y]).toEqual(['bad', 3, 0])
  expect(others.map(({ tone }) => tone)).toEqual(['good', 'waiting'])
  expect((others[0]?.height ?? 0) / (others[1]?.height ?? 1)).toBeCloseTo(3)
  expect(others.every(({ y }) => y > (bad?.height ?? 1))).toBe(true)
  expect((others[1]?.y ?? 0) + (others[1]?.height ?? 0)).toBeCloseTo(1)
  expect(missed?.blocks).toEqual([{ tone: 'bad', x: 24, y: 0, height: bad?.height }])
  expect(laneText({ cells })).toBe('2026-02-27: 3 complete, 1 planned, 2 failed; 2026-02-28: 1 missed')
})

it('an allowance is compared with what this month used of it, whichever days are shown', () => {
  expect(carriedText({ carried_bytes: 3_640_000_000, allowance_bytes: null, month: null })).toBe(
    '3.64 GB carried in these days. The link has no allowance.',
  )
  const month = { used_bytes: 3_640_000_000, left_bytes: 1_360_000_000, resets_at: '2026-12-01T00:00:00Z' }
  const said = carriedText({ carried_bytes: 9_000_000_000, allowance_bytes: 5_000_000_000, month })
  expect(said).toContain('9.00 GB carried in these days. Allowance: 3.64 GB of 5.00 GB used this month (73 %), until ')
  expect(said).toContain('Dec')
})
