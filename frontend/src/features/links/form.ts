import type { Link, LinkBody } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { formatMinute } from '@/lib/time'

/** A link as a person types it: Mb/s, ms, GB. */
export interface LinkValues {
  name: string
  orbit: LinkBody['orbit']
  operator: string
  rate_mbps: number | string
  rate_tolerance_percent: number | string
  base_rtt_ms: number | string
  receiver: string
  senders: string[]
  relays: string[]
  further_receivers: string[]
  allowance_gb: number | string
  reset_day: number | string
  is_emulated: boolean
  profile: string
  time_zone: string
  latitude: number | string
  longitude: number | string
}

const RATE_TOLERANCE_PERCENT = 50

export const ORBITS = ['GEO', 'MEO', 'LEO', 'terrestrial'] as const

export function valuesOf(link: Link | null): LinkValues {
  return {
    name: link?.name ?? '',
    orbit: link?.orbit ?? 'GEO',
    operator: link?.operator ?? '',
    rate_mbps: link ? link.nominal_rate_bps / 1e6 : '',
    rate_tolerance_percent: link?.rate_tolerance_percent ?? RATE_TOLERANCE_PERCENT,
    base_rtt_ms: link?.base_rtt_ms ?? '',
    receiver: link?.receiver ?? '',
    senders: link?.senders ?? [],
    relays: link?.relays ?? [],
    further_receivers: link?.further_receivers ?? [],
    allowance_gb: link?.allowance_bytes ? link.allowance_bytes / 1e9 : '',
    reset_day: link?.reset_day ?? 1,
    is_emulated: link?.is_emulated ?? false,
    profile: link?.profile ?? '',
    time_zone: link?.time_zone ?? '',
    latitude: link?.latitude ?? '',
    longitude: link?.longitude ?? '',
  }
}

export function bodyOf(values: LinkValues): LinkBody {
  return {
    name: values.name.trim(),
    orbit: values.orbit,
    operator: values.operator.trim(),
    nominal_rate_bps: Math.round(Number(values.rate_mbps) * 1e6),
    rate_tolerance_percent: values.rate_tolerance_percent === '' ? RATE_TOLERANCE_PERCENT : Number(values.rate_tolerance_percent),
    base_rtt_ms: Number(values.base_rtt_ms),
    receiver: values.receiver,
    senders: values.senders,
    relays: values.relays,
    further_receivers: values.further_receivers,
    allowance_bytes: values.allowance_gb === '' ? null : Math.round(Number(values.allowance_gb) * 1e9),
    reset_day: Number(values.reset_day) || 1,
    is_emulated: values.is_emulated,
    profile: values.is_emulated && values.profile.trim() ? values.profile.trim() : null,
    time_zone: values.time_zone.trim() || null,
    latitude: values.latitude === '' ? null : Number(values.latitude),
    longitude: values.longitude === '' ? null : Number(values.longitude),
  }
}

/** What is wrong, by field, in words that say what to do. */
export function checkValues(values: LinkValues): Partial<Record<keyof LinkValues, string>> {
  const wrong: Partial<Record<keyof LinkValues, string>> = {}
  if (!values.name.trim()) wrong.name = 'Give the link a name'
  if (!(Number(values.rate_mbps) > 0)) wrong.rate_mbps = 'Give the rate in Mb/s, above zero'
  if (!(Number(values.base_rtt_ms) > 0)) wrong.base_rtt_ms = 'Give the round-trip time in ms, above zero'
  if (!values.receiver) wrong.receiver = 'Choose the agent behind the terminal'
  if (values.senders.length === 0) wrong.senders = 'Choose at least one sending agent'
  if (values.senders.includes(values.receiver)) wrong.senders = 'An agent can be at one end only'
  const ends = [values.receiver, ...values.senders]
  if (values.relays.some((name) => ends.includes(name)))
    wrong.relays = 'A relay must be a separate agent: remove it from the ends, or from here'
  if (values.further_receivers.some((name) => ends.includes(name) || values.relays.includes(name)))
    wrong.further_receivers = 'A further receiver must be a separate agent: remove it elsewhere, or here'
  if (values.latitude === '' && values.longitude !== '') wrong.latitude = 'Give both, or neither'
  if (values.longitude === '' && values.latitude !== '') wrong.longitude = 'Give both, or neither'
  return wrong
}

/** "3.00 GB a month, 1.20 GB left until …" */
export function allowanceText({ allowance_bytes, month }: Pick<Link, 'allowance_bytes' | 'month'>): string {
  if (allowance_bytes === null) return 'no limit'
  const left = month ? `, ${formatBytes(month.left_bytes)} left until ${formatMinute(month.resets_at)}` : ''
  return `${formatBytes(allowance_bytes)} a month${left}`
}
