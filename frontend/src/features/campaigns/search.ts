import { oneOf, text, texts } from '@/lib/search'

export const CAMPAIGN_STATES = ['draft', 'running', 'paused', 'complete', 'cancelled'] as const

export const CAMPAIGN_SORTS = {
  '-created_at': 'Newest first',
  created_at: 'Oldest first',
  '-launched_at': 'Launched last first',
  '-ended_at': 'Ended last first',
  name: 'By name',
  state: 'By state',
} as const

type Sort = keyof typeof CAMPAIGN_SORTS
export const DEFAULT_SORT: Sort = '-created_at'

/** Of the list of campaigns. page counts from 1. */
export interface CampaignsSearch {
  q?: string | undefined
  state?: (typeof CAMPAIGN_STATES)[number] | undefined
  tag?: string[] | undefined
  link?: string | undefined
  sort?: Sort | undefined
  page?: number | undefined
}

export function parseCampaignsSearch(search: Record<string, unknown>): CampaignsSearch {
  const sort = oneOf(search.sort, Object.keys(CAMPAIGN_SORTS) as Sort[])
  const page = Number(search.page)
  return {
    q: typeof search.q === 'number' ? String(search.q) : text(search.q),
    state: oneOf(search.state, CAMPAIGN_STATES),
    tag: texts(search.tag),
    link: text(search.link),
    sort: sort === DEFAULT_SORT ? undefined : sort,
    page: Number.isInteger(page) && page > 1 ? page : undefined,
  }
}

/** Whether some campaigns may be left out. */
export const isFiltered = ({ q, state, tag, link }: CampaignsSearch) => Boolean(q ?? state ?? tag ?? link)
