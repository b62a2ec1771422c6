import type { FlowHops, HopCourse } from '@/api/types'
import type { Curve } from '@/charts/curves'
import { KB_PER_BYTE, MBPS_PER_BPS } from '@/lib/units'
import type { ShownName } from './search'

/** What is drawn of each hop: one or two lines of one unit. */
interface ShownKind {
  title: string
  unit: string
  factor: number
  lines: readonly { name: keyof HopCourse; label: string }[]
}

export const KINDS: Record<ShownName, ShownKind> = {
  rate: {
    title: 'Rate',
    unit: 'Mb/s',
    factor: MBPS_PER_BPS,
    lines: [
      { name: 'asked_bps', label: 'Asked for' },
      { name: 'arrived_bps', label: 'Arrived' },
    ],
  },
  waiting: { title: 'Waiting', unit: 'kB', factor: KB_PER_BYTE, lines: [{ name: 'backlog_bytes', label: 'Waiting to be sent' }] },
  delay: {
    title: 'Delay',
    unit: 'ms',
    factor: 1,
    lines: [
      { name: 'rtt_ms', label: 'Round trip' },
      { name: 'queue_ms', label: 'Queueing, one way' },
    ],
  },
  losses: { title: 'Losses', unit: 'packets', factor: 1, lines: [{ name: 'lost_packets', label: 'Lost in the step' }] },
}

/** The lines of one hop that were recorded. */
export function curvesOf(hop: HopCourse, shown: ShownName): Curve[] {
  return KINDS[shown].lines.flatMap(({ name, label }, style) => {
    const y = hop[name]
    return Array.isArray(y) ? [{ id: name, label, style, y: y as (number | null)[] }] : []
  })
}

/** What some hop has of each kind; split TCP asks for no rate and counts no losses. */
export const shownOf = ({ hops }: FlowHops): ShownName[] =>
  (Object.keys(KINDS) as ShownName[]).filter((shown) => hops.some((hop) => curvesOf(hop, shown).length > 0))

/** The greatest value of all hops, so that their charts have one scale. */
export const mostOf = ({ hops }: FlowHops, shown: ShownName): number =>
  Math.max(0, ...hops.flatMap((hop) => curvesOf(hop, shown).flatMap(({ y }) => y.map((value) => value ?? 0))))

/** "Hop 2: near → far"; over satellites the sites have no names. */
export function hopTitle({ place, begins_at, ends_at }: HopCourse): string {
  const name = place === null ? 'Last hop' : `Hop ${place}`
  if (begins_at && ends_at) return `${name}: ${begins_at} → ${ends_at}`
  if (begins_at) return `${name}: from ${begins_at}`
  return ends_at ? `${name}: to ${ends_at}` : name
}

/** Where another node ends the hop from then on; what was unknown before is no change. */
export function changesOf(hop: HopCourse, time_s: readonly number[]): { at_s: number; node: number }[] {
  let last: number | null = null
  return (hop.nodes ?? []).flatMap((node, step) => {
    if (node === null || node === last) return []
    const isFirst = last === null
    last = node
    return isFirst ? [] : [{ at_s: time_s[step] ?? 0, node }]
  })
}

/** "Satellites 12, 20": who ended the hop, in order; a station or router has no number worth saying. */
export function nodesText(hop: HopCourse): string | null {
  const seen = (hop.nodes ?? []).filter((node, step, all): node is number => node !== null && node >= 0 && node !== all[step - 1])
  const distinct = [...new Set(seen)]
  if (distinct.length === 0) return null
  const shown = distinct.slice(0, 4).join(', ')
  return `${distinct.length === 1 ? 'Satellite' : 'Satellites'} ${shown}${distinct.length > 4 ? ` and ${distinct.length - 4} more` : ''}`
}

/** Of what was sent over the hop that carried most: what this one sent the first time, and again. */
export function sentShares(hop: HopCourse, hops: readonly HopCourse[]): [number, number] | null {
  const most = Math.max(0, ...hops.map(({ totals }) => totals.sent_bytes ?? 0))
  const { sent_bytes, repaired_bytes } = hop.totals
  if (sent_bytes === null || most === 0) return null
  const again = Math.min(repaired_bytes ?? 0, sent_bytes)
  return [(sent_bytes - again) / most, again / most]
}
