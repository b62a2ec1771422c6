/** `vary` of a campaign file: one key with a list of values, or with a value for each link. */
import { mappingAt } from './document'
import { INTCP_OPTIONS } from './intcp'

export type Value = string | number | boolean
export type Way = 'none' | 'values' | 'links'

interface Varied {
  way: Way
  key: string
  /** In their order. */
  values: Value[]
  byLink: Record<string, Value>
}

/** Keys of flows and conditions that may be varied, beside settings of hosts: those of docs/campaign-file.md. */
export const VARIED_KEYS: readonly string[] = [
  'transport',
  'cc',
  'relay_cc',
  'pacing_rate_bps',
  ...INTCP_OPTIONS.map(({ name }) => name),
  'message_bytes',
  'every_ms',
  'receivers',
  'seconds',
  'bytes',
]

export function variedOf(data: unknown): Varied {
  const [first] = Object.entries(mappingAt(data, ['vary']))
  if (!first) return { way: 'none', key: '', values: [], byLink: {} }
  const [key, values] = first
  if (Array.isArray(values)) return { way: 'values', key, values, byLink: {} }
  return { way: 'links', key, values: [], byLink: (values ?? {}) as Record<string, Value> }
}

/** What a text means in a campaign file. A number that is not yet as people write it, such as 1.0, stays a text. */
export function meant(text: string): Value {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && String(Number(text)) === text ? Number(text) : text
}

/** The values of these texts; one that was there stays as it was written. */
export const valuesOf = (texts: readonly string[], before: readonly Value[]): Value[] =>
  texts.map((text) => before.find((value) => String(value) === text) ?? meant(text))
