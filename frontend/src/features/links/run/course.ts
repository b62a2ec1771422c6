import type { LinkCourse, LinkLog } from '@/api/types'
import type { EventRow } from '@/charts/timeShapes'
import { NO_VALUE } from '@/lib/format'
import type { Quantity } from '@/lib/quantities'

export type WayName = keyof LinkCourse['ways']
export type Way = LinkCourse['ways'][WayName]

/** Causes as the log names them, and in words. */
export const CAUSES: Readonly<Record<keyof Way['lost_bytes'], string>> = {
  queue_full: 'Queue full',
  early_drop: 'Random drop of a long queue',
  random_loss: 'Independent loss',
  outage: 'Outage',
  handover: 'Handover',
  thinned: 'Acknowledgement thinned out',
  path_change: 'Satellite left the path',
}

/** A flow that meets these has filled the link; the others come whatever it does. */
const CONGESTION: readonly string[] = ['queue_full', 'early_drop']

export const causeText = (cause: string) => (cause in CAUSES ? CAUSES[cause as keyof typeof CAUSES] : cause)

/** Rows of what was lost and of what kept the link from carrying, those in which something happened. */
export function eventRows(way: Way): EventRow[] {
  const lost = Object.entries(way.lost_bytes).map(([cause, amounts]) => ({ id: cause, label: `Lost: ${causeText(cause)}`, amounts }))
  const rows = [
    { id: 'gap', label: 'Handover gap', amounts: way.gap_s },
    { id: 'outage-time', label: 'Outage, met or not', amounts: way.outage_s },
    ...lost,
  ]
  return rows.filter(({ amounts }) => amounts.some((amount) => amount > 0))
}

export interface LossRow {
  flow: number | null
  way: string
  congestion: number
  other: number
  causes: string
}

/** Lost packets of each flow on each way: by congestion, by other causes, and all causes in words. Thinned ones are no loss. */
export function lossRows(lost: LinkLog['lost']): LossRow[] {
  const rows = new Map<string, LossRow & { parts: string[] }>()
  for (const { flow, way, cause, packets } of lost) {
    const key = `${flow ?? '-'} ${way}`
    const row = rows.get(key) ?? { flow, way, congestion: 0, other: 0, causes: '', parts: [] }
    if (CONGESTION.includes(cause)) row.congestion += packets
    else if (cause !== 'thinned') row.other += packets
    row.parts.push(`${causeText(cause)} ${packets.toLocaleString('en-GB')}`)
    rows.set(key, row)
  }
  return [...rows.values()]
    .sort((a, b) => (a.flow ?? Number.POSITIVE_INFINITY) - (b.flow ?? Number.POSITIVE_INFINITY) || a.way.localeCompare(b.way))
    .map(({ parts, ...row }) => ({ ...row, causes: parts.join(' · ') }))
}

/** A phase's value of an emulated link, in its shown unit. */
export function linkedText(value: number | null | undefined, { factor }: Pick<Quantity<string>, 'factor'>): string {
  if (value === null || value === undefined) return NO_VALUE
  return (value * factor).toLocaleString('en-GB', { maximumSignificantDigits: 4 })
}
