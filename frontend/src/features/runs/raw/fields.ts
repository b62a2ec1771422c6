import type { SampledColumn, SampledField, Samples } from '@/api/types'
import { formatNumber, plural, writtenOut } from '@/lib/format'
import { MB_PER_BYTE, MBPS_PER_BPS } from '@/lib/units'

/** Where samples are taken: `hop-2` is the second relay from the sender. */
export type PointName = 'sender' | 'receiver' | 'link' | `hop-${number}`

const ENDS: readonly PointName[] = ['sender', 'receiver', 'link']
const relayOf = (point: string) => Number(/^hop-([1-9]\d{0,2})$/.exec(point)?.[1] ?? Number.NaN)

export const isPoint = (text: string | undefined): text is PointName =>
  text !== undefined && ((ENDS as readonly string[]).includes(text) || relayOf(text) > 0)

/** From the sender over the relays to the receiver; the link's log is last. */
const placeOf = (point: PointName) => (point === 'sender' ? 0 : relayOf(point) || 1000 + ENDS.indexOf(point))
export const inOrder = (one: PointName, other: PointName) => placeOf(one) - placeOf(other)

/** A line's style; relays have those that no end has. */
export const styleOf = (point: PointName) => (ENDS.includes(point) ? ENDS.indexOf(point) : 2 + relayOf(point))

export function pointTitle(point: PointName): string {
  if (point === 'link') return 'Log of the emulated link'
  return ENDS.includes(point) ? `At the ${point}` : `At relay ${relayOf(point)}`
}

/** A panel: a field at a point, written "sender.cwnd_segments" in the address. */
export interface PanelKey {
  point: PointName
  name: string
}

/** What one answer may hold of one trace. */
export const MOST_PANELS = 12
export const USUAL_FIELDS = [
  'sender.cwnd_segments',
  'sender.rtt_us',
  'sender.acked_bytes',
  'receiver.received_bytes',
  'link.down_waiting_bytes',
]

export const keyText = ({ point, name }: PanelKey) => `${point}.${name}`

/** The panels that are asked for, each once, in the order of their points; what cannot be one is left out. */
export function panelKeys(fields: readonly string[]): PanelKey[] {
  const found = [...new Set(fields)].flatMap((field): PanelKey[] => {
    const [head, name, ...rest] = field.split('.')
    return isPoint(head) && name && rest.length === 0 && /^\w{1,64}$/.test(name) ? [{ point: head, name }] : []
  })
  return found.sort((one, other) => inOrder(one.point, other.point)).slice(0, MOST_PANELS)
}

/** How a field's unit is drawn: microseconds are hard to read on an axis. */
const DRAWN: Record<string, { unit: string; factor: number }> = {
  us: { unit: 'ms', factor: 1e-3 },
  bytes: { unit: 'MB', factor: MB_PER_BYTE },
  bps: { unit: 'Mb/s', factor: MBPS_PER_BPS },
}

export const drawnUnit = ({ unit }: SampledField) => DRAWN[unit] ?? { unit, factor: 1 }

/** "1,000 of 76,412 samples, min-max": always said, so that nobody takes a thinned line for all there is. */
export function countText(samples: Pick<Samples, 'in_span' | 'is_thinned' | 'missing_chunks'>, column: SampledColumn): string {
  const missing = samples.missing_chunks > 0 ? `; ${plural(samples.missing_chunks, 'chunk')} of the trace missing` : ''
  if (samples.in_span === 0) return `no sample in this stretch${missing}`
  const shown = writtenOut(column.values.length, 0)
  if (!samples.is_thinned) return `every sample: ${shown}${missing}`
  return `${shown} of ${writtenOut(samples.in_span, 0)} samples, min-max${missing}`
}

/** The place of the sample nearest in time to a moment; null without any. */
export function nearest(time_us: readonly number[], at_us: number): number | null {
  let [low, high] = [0, time_us.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((time_us[middle] ?? 0) < at_us) low = middle + 1
    else high = middle
  }
  const after = time_us[low]
  const before = time_us[low - 1]
  if (after === undefined) return low > 0 ? low - 1 : null
  return before !== undefined && at_us - before <= after - at_us ? low - 1 : low
}

/** A sample as it was taken: its time in seconds, its value in the unit of the list of fields. */
export function sampleText(column: SampledColumn, place: number, { unit }: SampledField): string {
  const value = column.values[place]
  const said = value == null ? 'not set' : `${formatNumber(value, 0)} ${unit}`
  return `${((column.time_us[place] ?? 0) / 1e6).toFixed(6)} s: ${said}`
}
