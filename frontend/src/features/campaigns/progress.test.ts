import { describe, expect, it } from 'vitest'
import { progressText, remainingSeconds, segments, segmentsTotal } from './progress'

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

describe('what is left', () => {
  const launched_at = '2026-01-02T03:00:00Z'
  const at = (seconds: number) => Date.parse(launched_at) + seconds * 1000
  it.each([
    ['on plan, nothing done', 0, 0, 240],
    ['on plan, half done', 3, 120, 120],
    ['all done', 6, 240, 0],
    ['first run twice as slow as planned', 0, 80, 480],
  ])('%s', (_, runs_ended, elapsed_s, left_s) => {
    const campaign = { state: 'running', launched_at, runs_total: 6, runs_ended } as const
    expect(remainingSeconds(campaign, 240, at(elapsed_s))).toBeCloseTo(left_s)
  })

  it('is unknown unless it runs', () => {
    const paused = { state: 'paused', launched_at, runs_total: 6, runs_ended: 2 } as const
    expect(remainingSeconds(paused, 240, at(60))).toBeNull()
  })
})

it('a failed attempt stays visible beside the one that replaced it', () => {
  const counts = { ...none, complete: 4, failed: 1, running: 1, planned: 1 }
  expect(segments(counts)).toEqual([
    { tone: 'good', count: 4 },
    { tone: 'bad', count: 1 },
    { tone: 'active', count: 1 },
  ])
  expect(segmentsTotal({ counts, runs_total: 6 })).toBe(7)
  expect(progressText({ counts, runs_total: 6, runs_ended: 4 })).toBe('4 of 6 runs done · 1 failed')
})

it('cancelled runs are not done', () => {
  expect(progressText({ counts: { ...none, cancelled: 288 }, runs_total: 288, runs_ended: 288 })).toBe('0 of 288 runs done · 288 cancelled')
  const begun = { counts: { ...none, complete: 5, cancelled: 3 }, runs_total: 8, runs_ended: 8 }
  expect(progressText(begun)).toBe('5 of 8 runs done · 3 cancelled')
})
