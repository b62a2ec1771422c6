import { describe, expect, it } from 'vitest'
import { bytesText, endsText, progressText, segments, segmentsTotal } from './progress'

const none = {
  planned: 0,
  leased: 0,
  preparing: 0,
  running: 0,
  restoring: 0,
  uploading: 0,
  complete: 0,
  incomplete: 0,
  failed: 0,
  cancelled: 0,
  missed: 0,
}

describe('the end', () => {
  const ends_at = '2026-01-02T03:20:00Z'
  it.each([
    ['2026-01-02T03:00:10Z', 'about 20 min left, until 2 Jan, 03:20 UTC'],
    ['2026-01-02T03:18:57Z', 'about 1 min 10 s left, until 2 Jan, 03:20 UTC'],
    ['2026-01-02T03:20:30Z', 'about 0 s left, until 2 Jan, 03:20 UTC'],
  ])('as seen at %s', (now, said) => {
    expect(endsText(ends_at, Date.parse(now))).toBe(said)
  })
})

it('what was transferred is held against the limit, or else against the plan', () => {
  expect(bytesText({ used_bytes: 1_200_000_000, limit_bytes: 5_000_000_000 }, 7, true)).toBe('1.20 GB transferred of the limit of 5.00 GB')
  expect(bytesText({ used_bytes: 0, limit_bytes: null }, 4_000_000_000, false)).toBe('0 B transferred of at most 4.00 GB planned')
  expect(bytesText({ used_bytes: 0, limit_bytes: null }, 4_000_000, true)).toBe('0 B transferred of at most 4.00 MB per firing')
})

it('a failed attempt stays visible beside the one that replaced it', () => {
  const counts = { ...none, complete: 4, failed: 1, running: 1, planned: 1 }
  expect(segments(counts)).toEqual([
    { tone: 'good', count: 4 },
    { tone: 'bad', count: 1 },
    { tone: 'active', count: 1 },
  ])
  expect(segmentsTotal({ counts, runs_total: 6 })).toBe(7)
  expect(progressText({ counts, runs_total: 6 })).toBe('4 of 6 runs complete · 1 failed')
})

it('cancelled runs are not done', () => {
  expect(progressText({ counts: { ...none, complete: 7 }, runs_total: 7, being_removed: 'all' })).toBe('Being deleted · 7 runs left')
  expect(progressText({ counts: { ...none, cancelled: 288 }, runs_total: 288 })).toBe('0 of 288 runs complete · 288 cancelled')
  const begun = { counts: { ...none, complete: 5, cancelled: 3 }, runs_total: 8 }
  expect(progressText(begun)).toBe('5 of 8 runs complete · 3 cancelled')
})
