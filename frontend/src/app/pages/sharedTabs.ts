import { parseResultsSearch } from '@/features/results/campaign/search'
import { nothing, parseSearchOf, type SearchOf } from './tabs'

/** What a visitor sees of a campaign. */
export const SHARED_TABS = {
  report: { title: 'Report', parseSearch: nothing },
  results: { title: 'Results', parseSearch: parseResultsSearch },
  downloads: { title: 'Downloads', parseSearch: nothing },
} as const

export type SharedSearch = SearchOf<typeof SHARED_TABS>
export const parseSharedSearch = parseSearchOf(SHARED_TABS)
