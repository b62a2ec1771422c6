import type { PathSearch } from './search'

/** A stretch of a path, in microseconds since its start. */
export interface Span {
  from_us: number
  to_us: number
}

/** Lengths to choose from, in seconds, besides the whole path. */
export const SPANS = [600, 3_600, 21_600] as const

const LEAST_US = 1_000_000

const held = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value))

/** The window that an address asks for: within the path, and with its moment. */
export function spanOf({ at, from, span }: PathSearch, duration_us: number): Span {
  const length = held(span === undefined ? duration_us : Math.round(span * 1e6), Math.min(LEAST_US, duration_us), duration_us)
  const begin = held(Math.round((from ?? 0) * 1e6), 0, duration_us - length)
  const at_us = at === undefined ? begin : held(Math.round(at * 1e6), 0, duration_us)
  const isWithin = at_us >= begin && at_us <= begin + length
  const from_us = isWithin ? begin : held(at_us - Math.round(length / 2), 0, duration_us - length)
  return { from_us, to_us: from_us + length }
}

/** The moment that an address asks for; without one, the window's begin. */
export const momentOf = ({ at }: PathSearch, { from_us }: Span, duration_us: number): number =>
  at === undefined ? from_us : held(Math.round(at * 1e6), 0, duration_us)

/** The address of a window of this many seconds that has the moment, if it is not the whole path. */
export function searchFor(at_us: number, span_s: number | null, duration_us: number): PathSearch {
  const at = at_us / 1e6
  if (span_s === null || span_s * 1e6 >= duration_us) return { at }
  return { at, from: held(at_us - (span_s * 1e6) / 2, 0, duration_us - span_s * 1e6) / 1e6, span: span_s }
}

/** How far one press of a key goes: a power of ten, some hundreds of them wide, and never less than a tenth of a second. */
export const stepOf = ({ from_us, to_us }: Span): number => Math.max(100_000, 10 ** Math.floor(Math.log10((to_us - from_us) / 100)))
