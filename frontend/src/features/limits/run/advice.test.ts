import { expect, it } from 'vitest'
import type { RunHost } from '@/api/types'
import { adviceSentence, bufferMaximum, mainLimitSentence, percent, silenceReason } from './advice'

it('names what held the flow most', () => {
  expect(mainLimitSentence({ congestion_window: 0.3, receive_window: 0.61, send_buffer: 0, application: 0.09 })).toBe(
    'Limited by the receive window for 61 % of its time.',
  )
})

const host = (role: 'sender' | 'receiver', settings: Record<string, string>, during: Record<string, string> | null = null) =>
  ({ roles: [role], settings_asked: settings, settings_during: during }) as unknown as RunHost

it('advises buffers, and says when the product is a lower bound', () => {
  expect(adviceSentence({ bdp_bytes: 10_746_000, is_lower_bound: false, max_bytes: 26_869_760 }, [])).toBe(
    'Let tcp_rmem at the receiver and tcp_wmem at the sender grow to 26.9 MB (26,869,760 bytes): the path holds 10.7 MB in flight.',
  )
  expect(adviceSentence({ bdp_bytes: 6_000_000, is_lower_bound: true, max_bytes: 27_000_832 }, [])).toContain('so the path can hold more.')
})

it('does not advise buffers that the run had', () => {
  const asked = { 'net.ipv4.tcp_wmem': '4096 16384 1000000' }
  const hosts = [
    host('receiver', { 'net.ipv4.tcp_rmem': '4096 131072 60000000' }),
    host('sender', asked, { 'net.ipv4.tcp_wmem': '4096\t16384\t24702976' }),
  ]
  const advice = { bdp_bytes: 9_880_000, is_lower_bound: false, max_bytes: 24_702_976 }
  expect(adviceSentence(advice, hosts)).toBe(
    'The path held 9.88 MB in flight, for which 24.7 MB would do; the buffers of this run could grow to 60.0 MB (tcp_rmem) and 24.7 MB (tcp_wmem).',
  )
  expect(adviceSentence({ ...advice, max_bytes: 24_702_977 }, hosts)).toContain('Let tcp_rmem')
  expect(bufferMaximum(hosts, 'sender', 'net.ipv4.tcp_rmem')).toBeNull()
})

it('small shares keep a decimal, none and all do not', () => {
  expect([0, 0.0001, 0.004, 0.09, 0.61, 1].map(percent)).toEqual(['0 %', '< 0.1 %', '0.4 %', '9.0 %', '61 %', '100 %'])
})

it('a trace that does not tell says what to do', () => {
  expect(silenceReason('per_ack', false)).toContain('sampling: polled')
  expect(silenceReason('polled', false)).toContain('4.10')
  expect(silenceReason('polled', true)).toContain('The file does not record')
})
