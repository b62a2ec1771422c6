import { parseRunExitsSearch } from '@/features/exits/search'
import { parseHopsSearch } from '@/features/hops/search'
import { parseRawSearch } from '@/features/runs/search'
import { nothing, parseSearchOf, type SearchOf } from './tabs'

export const RUN_TABS = {
  charts: { title: 'Charts', parseSearch: nothing },
  exits: { title: 'Slow-start exits', parseSearch: parseRunExitsSearch },
  limits: { title: 'Limits', parseSearch: nothing },
  link: { title: 'Link', parseSearch: nothing },
  hops: { title: 'Hops', parseSearch: parseHopsSearch },
  settings: { title: 'Settings and hosts', parseSearch: nothing },
  events: { title: 'Events', parseSearch: nothing },
  raw: { title: 'Samples', parseSearch: parseRawSearch },
  traces: { title: 'Traces', parseSearch: nothing },
} as const

export type RunSearch = SearchOf<typeof RUN_TABS>
export const parseRunSearch = parseSearchOf(RUN_TABS)
