import { useQuery } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import type { LinkFacts } from '@/api/types'
import { levelled } from '@/lib/captions'

export const reportQuery = (campaign_id: string) =>
  api.queryOptions('get', `${API}/campaigns/{campaign_id}/report`, { params: { path: { campaign_id } } })

export const useReport = (campaign_id: string) => useQuery(reportQuery(campaign_id))

const campaignLinksQuery = (campaign_id: string) =>
  api.queryOptions('get', `${API}/campaigns/{campaign_id}/links`, { params: { path: { campaign_id } } })

export const useCampaignLinks = (campaign_id: string) => useQuery(campaignLinksQuery(campaign_id))

const levelsOf = ({ items }: { items: readonly LinkFacts[] }) => levelled(items)

/** The links' nominal rates and base RTTs, for reference lines. Imported files say neither. */
export const useLinkFacts = (campaign_id: string) => useQuery({ ...campaignLinksQuery(campaign_id), select: levelsOf })

/** Delays of blocks, pooled over each condition's complete runs. */
export const useRates = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/rates`, { params: { path: { campaign_id } } })

export const useDelays = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/delays`, { params: { path: { campaign_id } } })

/** What hosts ran and did not take. */
export const useCircumstances = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/circumstances`, { params: { path: { campaign_id } } })

export const useRunSeries = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/series`, { params: { path: { run_id } } })

/** What papers published of it, beside its own values. */
export const useReproduction = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/reproduction`, { params: { path: { campaign_id } } })
