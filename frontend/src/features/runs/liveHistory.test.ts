import { expect, it } from 'vitest'
import { KEPT_S, type LiveHistory, withNow } from './liveHistory'

const flow = (elapsed_s: number, more = {}) => ({
  flow: 1,
  elapsed_s,
  heard_s: elapsed_s,
  throughput_bps: 1e6 * elapsed_s,
  rtt_ms: 600,
  cwnd_bytes: 1e5,
  has_ended: false,
  ...more,
})
const heard = (...words: ReturnType<typeof flow>[]) => words.reduce<LiveHistory>((history, word) => withNow(history, [word]), {})
const times = (history: LiveHistory) => history[1]?.map(({ at_s }) => at_s)

it('keeps what was said each second, once', () => {
  expect(times(heard(flow(1), flow(2), flow(2), flow(3)))).toEqual([1, 2, 3])
})

it('forgets what is older than a few minutes', () => {
  expect(times(heard(flow(1), flow(50), flow(KEPT_S + 20)))).toEqual([50, KEPT_S + 20])
})

it('starts again with the next attempt, and ends with the flow', () => {
  expect(times(heard(flow(30), flow(1)))).toEqual([1])
  expect(times(heard(flow(30), flow(30.2, { has_ended: true })))).toEqual([30])
})

it('has no line of a flow that nobody speaks of', () => {
  expect(withNow(heard(flow(1)), [])).toEqual({})
})
