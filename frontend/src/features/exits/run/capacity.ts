import type { Capacity } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { MB_PER_BYTE } from '@/lib/units'

const BITS_PER_BYTE = 8
const US_PER_S = 1e6

/** What exits are judged by, in a sentence. */
export function capacityText(capacity: Capacity | null): string {
  if (capacity === null) return 'Exits are not judged early or good: without an RTT in the trace there is no capacity point.'
  const { capacity_us, capacity_basis, capacity_rate_bps, least_rtt_us } = capacity
  const rate = `${formatNumber((capacity_rate_bps ?? 0) / 1e6)} Mb/s`
  const rtt = `the least RTT of ${formatNumber(least_rtt_us / 1000)} ms`
  if (capacity_basis === 'plateau')
    return capacity_us === null
      ? 'Capacity was never reached: the delivery rate grew to the end. Every exit before the first loss is early.'
      : `Capacity: delivery over ${rtt} first reached 90 % of its plateau of ${rate}. The link's rate is unknown, was shared, or did not limit the flow.`
  if (capacity_basis === 'link_log')
    return capacity_us === null
      ? `Capacity was never reached: the emulated link was never busy for ${rtt}. Every exit before the first loss is early.`
      : `Capacity: from here on the emulated link was busy, as it has been for ${rtt}, at ${rate}. The emulator’s log shows it.`
  const full = `${formatNumber(((capacity_rate_bps ?? 0) / BITS_PER_BYTE) * (least_rtt_us / US_PER_S) * MB_PER_BYTE)} MB`
  const needed = `${full} in flight, the link's ${capacity_basis === 'emulated_rate' ? 'emulated' : 'nominal'} rate of ${rate} times ${rtt}`
  return capacity_us === null
    ? `Capacity was never reached: it takes ${needed}. Every exit before the first loss is early.`
    : `Capacity: from here on there were ${needed}.`
}
