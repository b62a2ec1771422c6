import { PHASES } from '@/lib/quantities'
import { oneOf, text, texts } from '@/lib/search'

const RANGES = ['all', 'startup', 'steady'] as const

export interface ResultsSearch {
  link?: string | undefined
  /** Series switched off in the legend, by label. */
  hide?: string[] | undefined
  phase?: (typeof PHASES)[number] | undefined
  range?: (typeof RANGES)[number] | undefined
  band?: 'off' | undefined
}

export function parseResultsSearch(search: Record<string, unknown>): ResultsSearch {
  return {
    link: text(search.link),
    hide: texts(search.hide),
    phase: oneOf(search.phase, PHASES),
    range: oneOf(search.range, RANGES),
    band: oneOf(search.band, ['off']),
  }
}
