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

/** What HyStart's counters on the sender's host say; null where the kernel does not count. */
export function hystartText(exits: RunFlow['hystart_exits']): string | null {
  if (exits === null) return null
  const { train, delay } = exits
  if (train + delay === 0) return 'HyStart ended no slow start'
  const by = [train > 0 ? `${train} by ACK train` : null, delay > 0 ? `${delay} by delay` : null].filter(Boolean)
  return `HyStart ended ${plural(train + delay, 'slow start')}: ${by.join(', ')}`
}
