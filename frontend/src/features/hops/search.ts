import { amount, oneOf } from '@/lib/search'

export const SHOWN = ['rate', 'waiting', 'delay', 'losses'] as const
export type ShownName = (typeof SHOWN)[number]

/** Of a run's hops: the flow, and what is drawn of each hop. */
export interface HopsSearch {
  flow?: number | undefined
  shown?: ShownName | undefined
}

export function parseHopsSearch(search: Record<string, unknown>): HopsSearch {
  return { flow: amount(search.flow), shown: oneOf(search.shown, SHOWN) }
}
