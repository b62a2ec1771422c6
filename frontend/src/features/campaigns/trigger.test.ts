import { describe, expect, it } from 'vitest'
import type { TriggerState } from '@/api/types'
import { causeValue, waitingText } from './trigger'

const STATE: TriggerState = {
  is_waiting: true,
  waiting_for: 'a signed call',
  waits: 'No call has come.',
  fired: 1,
  most: 100,
  free_at: null,
  refused_at: null,
  refusal: null,
  takes_calls: true,
  has_secret: false,
  firings: [],
}

describe('a trigger in words', () => {
  it('says what it waits for and how often it has fired', () => {
    expect(waitingText(STATE)).toBe('Waiting for a signed call · fired 1 of at most 100 times')
    expect(waitingText({ ...STATE, is_waiting: false, most: 1 })).toBe('No longer waits for a signed call · fired 1 of at most 1 time')
  })

  it('shows the value with its unit and who said it', () => {
    const cause = { name: 'x', at: '2026-01-02T03:04:05Z', value: 0.07, unit: 'ratio', source: 'dish' }
    expect(causeValue(cause)).toBe('0.07 ratio by dish')
    expect(causeValue({ ...cause, value: 0, unit: '', source: 'call' })).toBe('0')
    expect(causeValue({ ...cause, value: null })).toBe('–')
  })
})
