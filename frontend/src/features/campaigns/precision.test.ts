import { describe, expect, it } from 'vitest'
import type { Precision } from '@/api/types'
import { precisionText, widthText } from './precision'

const WIDTH = { link: 'geo', condition: 'on', runs: 12, mean: 1e8, half_width: 4e6, half_width_percent: 4, is_narrow: true }
const STATE: Precision = {
  asked: { metric: 'throughput_bps', phase: 'steady', flow: 1, half_width_percent: 5, most_cycles: 60 },
  cycles: 12,
  widths: [WIDTH],
  ended: null,
}

describe('how exactly means are known, in words', () => {
  it('says what is asked for, how many cycles have begun, and why it ended', () => {
    expect(precisionText(STATE)).toBe('± 5 % of the mean requested · 12 of at most 60 cycles have begun')
    expect(precisionText({ ...STATE, cycles: 1, ended: 'precise_enough' })).toBe(
      '± 5 % of the mean requested · 1 of at most 60 cycles has begun · Ended: every condition reached this precision',
    )
    expect(precisionText({ ...STATE, ended: 'most_cycles' })).toContain('Ended with its last cycle')
  })

  it('says why there is no width', () => {
    expect(widthText(WIDTH)).toBe('± 4.00 %')
    const none = { ...WIDTH, half_width_percent: null }
    expect(widthText({ ...none, runs: 0, mean: null, half_width: null })).toBe('needs five runs')
    expect(widthText({ ...none, runs: 4, half_width: null })).toBe('needs five runs')
    expect(widthText({ ...none, mean: 0, half_width: 0 })).toBe('undefined for a mean of zero')
  })
})
