import { parseResultsSearch, type ResultsSearch } from '@/features/results/campaign/search'
import { text, texts } from '@/lib/search'

/** What is compared, and how it is looked at. baseline: one of the sides; without it the first. */
export interface CompareSearch extends Pick<ResultsSearch, 'hide' | 'range' | 'band' | 'layout' | 'phase' | 'baseline'> {
  side?: string[] | undefined
  metric?: string | undefined
}

export function parseCompareSearch(search: Record<string, unknown>): CompareSearch {
  const { hide, range, band, layout, phase, baseline } = parseResultsSearch(search)
  const side = texts(search.side)
  return { side: side && [...new Set(side)], baseline, phase, metric: text(search.metric), hide, range, band, layout }
}
