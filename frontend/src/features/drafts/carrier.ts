/** What carries the flows of a draft. */
import type { Path } from './document'
import { listAt, mappingAt, valueAt } from './document'

/** What may carry a flow. Split TCP and INTCP need relays. */
export type Carrier = 'tcp' | 'split' | 'intcp' | 'probe'

export const CARRIERS: readonly { value: Carrier; label: string; needsRelays: boolean }[] = [
  { value: 'tcp', label: 'TCP data', needsRelays: false },
  { value: 'split', label: 'Split TCP', needsRelays: true },
  { value: 'intcp', label: 'INTCP', needsRelays: true },
  { value: 'probe', label: 'Probes', needsRelays: false },
]

export function carrierOf(flow: Record<string, unknown>): Carrier {
  if ('probe' in flow) return 'probe'
  return flow.transport === 'split' || flow.transport === 'intcp' ? flow.transport : 'tcp'
}

/** Keys that a flow keeps when another transport carries it. */
const KEPT: Readonly<Record<Carrier, readonly string[]>> = {
  tcp: ['cc', 'options', 'pacing_rate_bps', 'offer', 'sender', 'receiver', 'start_s'],
  split: ['cc', 'options', 'pacing_rate_bps', 'offer', 'sender', 'receiver', 'start_s'],
  intcp: ['offer', 'sender', 'receiver', 'start_s'],
  probe: ['sender', 'receiver', 'start_s'],
}
const FIRST: Readonly<Record<Carrier, object>> = {
  tcp: { cc: 'cubic' },
  split: { transport: 'split', cc: 'cubic' },
  intcp: { transport: 'intcp' },
  probe: { probe: { every_ms: 100 } },
}

/** The flow as another transport carries it; options of a control go with the control. */
export function carriedBy(carrier: Carrier, flow: Record<string, unknown>): Record<string, unknown> {
  const isOfControl = 'cc' in flow || carrierOf(flow) !== 'intcp'
  const kept = Object.entries(flow).filter(([key]) => KEPT[carrier].includes(key) && (key !== 'options' || isOfControl))
  return { ...FIRST[carrier], ...Object.fromEntries(kept) }
}

/** Whether TCP of a condition, or of one of these, may end at relays. */
export function isSplit(data: unknown, indices?: readonly number[]): boolean {
  const conditions = listAt(data, ['conditions'])
  const own = indices ? indices.map((index) => conditions[index]) : conditions
  const isWritten = (part: unknown, key: Path) => Object.keys(mappingAt(part, key)).length > 0
  return (
    own.some((one) => isWritten(one, ['relay']) || listAt(one, ['flows']).some((flow) => valueAt(flow, ['transport']) === 'split')) ||
    listAt(data, ['vary', 'transport']).includes('split') ||
    (!indices && isWritten(data, ['defaults', 'relay']))
  )
}
