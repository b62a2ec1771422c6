import { NO_VALUE } from './format'

/** "35 s", "4 min 12 s", "3 h 20 min", "2 d 4 h": two units at most. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return NO_VALUE
  const whole = Math.max(0, Math.round(seconds))
  const days = Math.floor(whole / 86_400)
  const hours = Math.floor((whole % 86_400) / 3_600)
  const minutes = Math.floor((whole % 3_600) / 60)
  const parts: [number, string][] = [
    [days, 'd'],
    [hours, 'h'],
    [minutes, 'min'],
    [whole % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone: 'UTC' })

/** Pages show the zone that exports use: UTC. */
export function formatMoment(at: string | null | undefined): string {
  if (!at) return NO_VALUE
  const moment = new Date(at)
  return `${DAY.format(moment)}, ${CLOCK.format(moment)} UTC`
}

/** A moment with its milliseconds. */
export function formatInstant(at: string | null | undefined): string {
  if (!at) return NO_VALUE
  const moment = new Date(at)
  const milliseconds = String(moment.getUTCMilliseconds()).padStart(3, '0')
  return `${DAY.format(moment)}, ${CLOCK.format(moment)}.${milliseconds} UTC`
}

const MINUTE = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

/** "2 Jan, 03:04 UTC": of what is estimated. */
export const formatMinute = (at: string) => `${SHORT_DAY.format(new Date(at))}, ${MINUTE.format(new Date(at))} UTC`

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** "2 Jan, 03:04:05": for columns that say UTC above them. */
export function formatDayAndClock(at: string | null | undefined): string {
  return at ? `${SHORT_DAY.format(new Date(at))}, ${CLOCK.format(new Date(at))}` : NO_VALUE
}

/** "Tue 1 Dec, 18:00:00 Europe/Berlin": by the clock of a zone; UTC where none is known. */
export function formatLocal(at: string, zone: string | undefined): string {
  const timeZone = zone && ZONES.has(zone) ? zone : 'UTC'
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone })
  const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone })
  return `${day.format(new Date(at)).replace(',', '')}, ${clock.format(new Date(at))} ${timeZone}`
}

const ZONES = new Set(Intl.supportedValuesOf('timeZone'))

/** "just now", "40 s ago", "3 min ago", "in 2 h": one unit, coarse on purpose. */
export function formatRelative(at: string | null | undefined, now_ms: number): string {
  if (!at) return 'never'
  const seconds = (now_ms - new Date(at).getTime()) / 1000
  if (Math.abs(seconds) < 5) return 'just now'
  const text = coarse(Math.abs(seconds))
  return seconds > 0 ? `${text} ago` : `in ${text}`
}

function coarse(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

export function secondsBetween(from: string | null | undefined, to: string | null | undefined): number | null {
  return from && to ? (new Date(to).getTime() - new Date(from).getTime()) / 1000 : null
}
