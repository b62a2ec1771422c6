import type { RunFlow } from '@/api/types'
import { formatNumber, plural } from '@/lib/format'

type Facts<Name extends keyof RunFlow> = Pick<RunFlow, Name>

/** "bbr v3": the control with its version where the kernel tells one. */
export function controlName(name: string, version: number | null): string {
  return version === null ? name : `${name} v${version}`
}

/** How the sender recorded the flow, and how often a second; null before its end. */
export function samplingText({ sampling, traces }: Facts<'sampling' | 'traces'>): string | null {
  if (sampling === null) return null
  const rate_hz = traces.sender.achieved_rate_hz
  const what = sampling === 'per_ack' ? 'every ACK' : 'polled'
  return rate_hz === null ? what : `${what}, ${formatNumber(rate_hz, 0)} a second`
}

/** What is missing in the record; null when nothing is. */
export function droppedText(dropped: number | null): string | null {
  return dropped ? `${plural(dropped, 'ACK')} not recorded: the kernel's buffer was full` : null
}

type Proxy = NonNullable<RunFlow['proxy']>

/** Whether something on the way ended the flow's TCP, in a sentence with its signs; null where nobody can say. */
export function proxyText(proxy: RunFlow['proxy'] | undefined): string | null {
  if (!proxy || proxy.path === 'unknown') return null
  if (proxy.path === 'whole') return 'No proxy: one connection from end to end'
  return `A proxy (PEP) splits TCP on the path: ${proxySigns(proxy).join('; ')}`
}

function proxySigns({ near, ack_lead_ms, clock_error_ms, sender_handshake_ms, receiver_handshake_ms }: Proxy): string[] {
  const isEarly = ack_lead_ms !== null && clock_error_ms !== null && ack_lead_ms > clock_error_ms
  const early = isEarly ? [`bytes were acknowledged ${formatNumber(ack_lead_ms, 0)} ms before they arrived`] : []
  return near === null
    ? early
    : [...early, `handshakes took ${ms(sender_handshake_ms)} at the sender, ${ms(receiver_handshake_ms)} at the receiver`]
}

const ms = (value: number | null) => (value === null ? 'an unknown time' : `${formatNumber(value, 0)} ms`)

/** The one control that these counters of the kernel count for (tcp_cubic.c). */
const HAS_HYSTART = 'cubic'

/**
 * What HyStart's counters on the sender's host say of a Cubic flow; null for other controls and where the kernel does not count.
 * The counters are the host's: of several Cubic flows none knows its own share.
 */
export function hystartText(
  flow: Facts<'flow' | 'sender' | 'actual_cc' | 'hystart_exits'>,
  flows: readonly (typeof flow)[],
): string | null {
  if (flow.hystart_exits === null || flow.actual_cc !== HAS_HYSTART) return null
  const isShared = flows.some((one) => one.flow !== flow.flow && one.sender === flow.sender && one.actual_cc === HAS_HYSTART)
  return `${exitsText(flow.hystart_exits)}${isShared ? ' (of all Cubic flows of this sender)' : ''}`
}

function exitsText(exits: NonNullable<RunFlow['hystart_exits']>): string {
  const { train, delay } = exits
  if (train + delay === 0) return 'HyStart ended no slow start'
  const by = [train > 0 ? `${train} by ACK train` : null, delay > 0 ? `${delay} by delay` : null].filter(Boolean)
  return `HyStart ended ${plural(train + delay, 'slow start')}: ${by.join(', ')}`
}
