import { amount } from '@/lib/search'

/** What of a path is shown, in seconds since its start: a moment, and a window by its begin and length; without them all of it. */
export interface PathSearch {
  at?: number | undefined
  from?: number | undefined
  span?: number | undefined
}

export const parsePathSearch = (search: Record<string, unknown>): PathSearch => ({
  at: amount(search.at),
  from: amount(search.from),
  span: amount(search.span),
})
