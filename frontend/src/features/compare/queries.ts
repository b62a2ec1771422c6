import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import type { Report } from '@/api/types'

interface Asked {
  side: string[]
  baseline: string
  phase: string
  metric: string
}

/** What was compared before stays in sight until this has come. */
export const useComparison = ({ side, ...query }: Asked) =>
  api.useQuery(
    'get',
    `${API}/comparison`,
    { params: { query: { side, ...query } } },
    { enabled: side.length > 0, placeholderData: keepPreviousData },
  )

/** Campaigns to choose from, the newest first. */
export const useOffered = (q: string) =>
  api.useQuery('get', `${API}/campaigns`, { params: { query: { q, limit: 20 } } }, { placeholderData: keepPreviousData })

/** The campaigns' reports, which have the series; one that is not made yet is left out. */
export function useReports(campaignIds: readonly string[]): { reports: Report[]; isPending: boolean } {
  return useQueries({
    queries: campaignIds.map((campaign_id) =>
      api.queryOptions('get', `${API}/campaigns/{campaign_id}/report`, { params: { path: { campaign_id } } }),
    ),
    combine: (found) => ({
      reports: found.flatMap(({ data }) => (data ? [data] : [])),
      isPending: found.some(({ isPending }) => isPending),
    }),
  })
}
