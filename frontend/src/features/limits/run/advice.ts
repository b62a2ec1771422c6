import type { FlowLimits, RunFlow, RunHost } from '@/api/types'
import { formatBytes, formatNumber } from '@/lib/format'
import { LIMITS } from '@/lib/quantities'

/** "Held by the receive window for 61 % of its time." */
export function mainLimitSentence(shares: NonNullable<FlowLimits['shares']>): string {
  const most = LIMITS.reduce((best, one) => (shares[one.name] > shares[best.name] ? one : best))
  return `Limited by the ${most.title.toLowerCase()} for ${percent(shares[most.name])} of its time.`
}

/** The largest size that a host's buffer could grow to in this run, in bytes; null where that is not on record. */
export function bufferMaximum(hosts: readonly RunHost[], role: 'sender' | 'receiver', setting: string): number | null {
  const host = hosts.find(({ roles }) => roles.includes(role))
  const triple = host?.settings_during?.[setting] ?? host?.settings_asked[setting]
  const most = Number(triple?.trim().split(/\s+/).at(-1))
  return Number.isFinite(most) && most > 0 ? most : null
}

/** What the buffers should be, in a sentence; those of the run are left alone where they suffice. */
export function adviceSentence(
  { bdp_bytes, is_lower_bound, max_bytes }: NonNullable<FlowLimits['advice']>,
  hosts: readonly RunHost[],
): string {
  const [rmem, wmem] = [bufferMaximum(hosts, 'receiver', 'net.ipv4.tcp_rmem'), bufferMaximum(hosts, 'sender', 'net.ipv4.tcp_wmem')]
  if (rmem !== null && wmem !== null && Math.min(rmem, wmem) >= max_bytes) {
    return `The path held ${formatBytes(bdp_bytes)} in flight, for which ${formatBytes(max_bytes)} would do; the buffers of this run could grow to ${formatBytes(rmem)} (tcp_rmem) and ${formatBytes(wmem)} (tcp_wmem).`
  }
  const advice = `Let tcp_rmem at the receiver and tcp_wmem at the sender grow to ${formatBytes(max_bytes)} (${max_bytes.toLocaleString('en-GB')} bytes)`
  return is_lower_bound
    ? `${advice}: ${formatBytes(bdp_bytes)} were in flight while a buffer limited the flow, so the path can hold more.`
    : `${advice}: the path holds ${formatBytes(bdp_bytes)} in flight.`
}

/** Why a flow's trace does not tell what held it. */
export function silenceReason(sampling: RunFlow['sampling'], isImported: boolean): string {
  if (isImported) return 'The file does not record how long windows and buffers limited the flow.'
  return sampling === 'per_ack'
    ? 'Recording every ACK omits the counters that show this. Use “sampling: polled” to see it.'
    : "The sender's kernel does not count how long windows and buffers limited the flow (Linux 4.10 and later do), or samples are missing."
}

/** "61 %", "7.6 %", "< 0.1 %". */
export function percent(share: number): string {
  if (share > 0 && share < 0.0005) return '< 0.1 %'
  return `${formatNumber(100 * share, share > 0 && share < 0.0995 ? 1 : 0)} %`
}
