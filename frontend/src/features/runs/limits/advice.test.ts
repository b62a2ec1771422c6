import { expect, it } from 'vitest'
import { adviceSentence, mainLimitSentence, percent, silenceReason } from './advice'

it('names what held the flow most', () => {
  expect(mainLimitSentence({ congestion_window: 0.3, receive_window: 0.61, send_buffer: 0, application: 0.09 })).toBe(
    'Held by the receive window for 61 % of its time.',
  )
})

it('advises buffers, and says when the product is a lower bound', () => {
  expect(adviceSentence({ bdp_bytes: 10_746_000, is_lower_bound: false, max_bytes: 26_869_760 })).toBe(
    'Let tcp_rmem at the receiver and tcp_wmem at the sender grow to 26.9 MB (26,869,760 bytes): the path holds 10.7 MB in flight.',
  )
  expect(adviceSentence({ bdp_bytes: 6_000_000, is_lower_bound: true, max_bytes: 27_000_832 })).toContain('so the path has room for more.')
})

it('small shares keep a decimal, none and all do not', () => {
  expect([0, 0.0001, 0.004, 0.09, 0.61, 1].map(percent)).toEqual(['0 %', '< 0.1 %', '0.4 %', '9.0 %', '61 %', '100 %'])
})

it('a trace that does not tell says what to do', () => {
  expect(silenceReason('per_ack', false)).toContain('sampling: polled')
  expect(silenceReason('polled', false)).toContain('4.10')
  expect(silenceReason('polled', true)).toContain('The file does not tell')
})
