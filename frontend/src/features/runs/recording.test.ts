import { describe, expect, it } from 'vitest'
import type { Run } from '@/api/types'
import { said } from '@/testing/recordings'
import { controlName, droppedText, hystartText, proxyText, samplingText } from './recording'

const traces = said<Run>('recorded-run-1').flows[0]?.traces

it('BBR is told apart by its version', () => {
  expect(controlName('bbr', 3)).toBe('bbr v3')
  expect(controlName('cubic', null)).toBe('cubic')
})

describe('how a flow was recorded', () => {
  it.each([
    ['polled', 'polled, 200 a second'],
    ['per_ack', 'every ACK, 200 a second'],
    [null, null],
  ] as const)('%s: %s', (sampling, says) => {
    expect(traces && samplingText({ sampling, traces })).toBe(says)
  })

  it('only what is missing is a warning', () => {
    expect([null, 0, 1, 1200].map(droppedText)).toEqual([
      null,
      null,
      "1 ACK not recorded: the kernel's buffer was full",
      "1,200 ACKs not recorded: the kernel's buffer was full",
    ])
  })
})

describe('a proxy on the way', () => {
  const signs = {
    ...{ near: null, ack_lead_ms: null, clock_error_ms: 2, sender_handshake_ms: 12, receiver_handshake_ms: 588 },
    ...{ probe_rtt_ms: null, base_rtt_ms: 600, sender_window_bytes: null, receiver_window_bytes: null },
  }
  it.each([
    [undefined, null],
    [null, null],
    [{ ...signs, path: 'unknown' as const }, null],
    [{ ...signs, path: 'whole' as const }, 'No proxy: one connection from end to end'],
    [
      { ...signs, path: 'split' as const, ack_lead_ms: 274.6 },
      'A proxy (PEP) splits TCP on the path: bytes were acknowledged 275 ms before they arrived',
    ],
    [
      { ...signs, path: 'split' as const, near: 'sender' as const, ack_lead_ms: 1 },
      'A proxy (PEP) splits TCP on the path: handshakes took 12 ms at the sender, 588 ms at the receiver',
    ],
  ])('%o: %s', (proxy, says) => {
    expect(proxyText(proxy)).toBe(says)
  })
})

describe("HyStart's counters", () => {
  const flow = (number: number, actual_cc: string, hystart_exits: { train: number; delay: number } | null, sender = 'server') => ({
    ...{ flow: number, actual_cc, hystart_exits, sender },
  })
  const alone = (exits: { train: number; delay: number } | null) => hystartText(flow(1, 'cubic', exits), [flow(1, 'cubic', exits)])

  it('are said in words', () => {
    expect(alone(null)).toBeNull()
    expect(alone({ train: 0, delay: 0 })).toBe('HyStart ended no slow start')
    expect(alone({ train: 1, delay: 0 })).toBe('HyStart ended 1 slow start: 1 by ACK train')
    expect(alone({ train: 2, delay: 1 })).toBe('HyStart ended 3 slow starts: 2 by ACK train, 1 by delay')
  })

  it('say nothing of a flow whose control has no HyStart, whatever the host counted', () => {
    const exits = { train: 0, delay: 1 }
    const flows = [flow(1, 'cubic', exits), flow(2, 'bbr', exits)]
    expect(flows.map((one) => hystartText(one, flows))).toEqual(['HyStart ended 1 slow start: 1 by delay', null])
  })

  it('are of the host: two Cubic flows of one sender share them', () => {
    const exits = { train: 0, delay: 2 }
    const flows = [flow(1, 'cubic', exits), flow(2, 'cubic', exits), flow(3, 'cubic', exits, 'other')]
    expect(flows.map((one) => hystartText(one, flows)?.includes('all Cubic flows of this sender'))).toEqual([true, true, false])
  })
})
