/** Start and opening hours of a timetable between their texts in the campaign file and the fields of the form. */

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  daily: DAYS,
  weekdays: DAYS.slice(0, 5),
  weekends: DAYS.slice(5),
}

interface Start {
  day: string
  clock: string
  zone: string
}

/** Of `2026-12-01 18:00 Europe/Berlin`; null for what has not three parts. A part may be empty while it is typed. */
export function startOf(text: unknown): Start | null {
  const found = /^(\S*) (\S*) (\S*)$/.exec(String(text))
  return found ? { day: found[1] ?? '', clock: found[2] ?? '', zone: found[3] ?? '' } : null
}

export const startText = ({ day, clock, zone }: Start) => `${day} ${clock} ${zone}`

interface Hours {
  days: readonly string[]
  opens: string
  closes: string
}

/** Of `weekdays 18:00-06:00`; null for what is not of that form. */
export function hoursOf(text: unknown): Hours | null {
  const found = /^(\S*) ([^\s-]*)-([^\s-]*)$/.exec(String(text).replaceAll(/\s+/g, ' '))
  if (!found) return null
  const named = (found[1] ?? '').toLowerCase()
  const days = GROUPS[named] ?? named.split(',').filter(Boolean)
  return days.every((day) => DAYS.some((known) => known === day)) ? { days, opens: found[2] ?? '', closes: found[3] ?? '' } : null
}

export function hoursText({ days, opens, closes }: Hours): string {
  const sorted = DAYS.filter((day) => days.includes(day))
  const group = Object.entries(GROUPS).find(([, all]) => all.length === sorted.length && all.every((day) => days.includes(day)))
  return `${group?.[0] ?? sorted.join(',')} ${opens}-${closes}`
}

/** A day so many days after another one, or after today. */
export function dayAfter(day: string, days: number, now_ms = Date.now()): string {
  const from_ms = Date.parse(`${day}T00:00Z`)
  return new Date((Number.isNaN(from_ms) ? now_ms : from_ms) + days * 86_400_000).toISOString().slice(0, 10)
}
