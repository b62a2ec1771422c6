/** Clock time on an axis: seconds since 1970, shown in UTC. By hand, since figures are also drawn where no tables of languages are. */
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS_S = [
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  28 * DAY,
]
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export const secondsOf = (moment: string): number => Date.parse(moment) / 1000

const two = (value: number) => String(value).padStart(2, '0')

/** "13:05". */
const clockText = (at_s: number): string => {
  const at = new Date(at_s * 1000)
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`
}

/** "23 Nov". */
const dayText = (at_s: number): string => {
  const at = new Date(at_s * 1000)
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''}`
}

/** "23 Nov 2026". */
export const dateText = (at_s: number): string => `${dayText(at_s)} ${new Date(at_s * 1000).getUTCFullYear()}`

/** "23 Nov, 13:05". */
export const momentText = (at_s: number): string => `${dayText(at_s)}, ${clockText(at_s)}`

/** What a tick says: the hour, and at midnight the day that begins. */
export const tickText = (at_s: number): string => (at_s % DAY === 0 ? dayText(at_s) : clockText(at_s))

/** Ticks at round clock times, at most `count`. */
export function clockTicks(from_s: number, to_s: number, count: number): number[] {
  const step = STEPS_S.find((candidate) => (to_s - from_s) / candidate <= count) ?? 28 * DAY * Math.ceil((to_s - from_s) / count / 28 / DAY)
  const first = Math.ceil(from_s / step)
  return Array.from({ length: Math.max(0, Math.floor(to_s / step) - first + 1) }, (_, index) => (first + index) * step)
}

/** "Clock time (UTC), 23 Nov 2026", or both days where there are two. */
export function clockTitle(from_s: number, to_s: number): string {
  const [first, last] = [dateText(from_s), dateText(to_s)]
  return `Clock time (UTC), ${first}${first === last ? '' : ` to ${last}`}`
}
