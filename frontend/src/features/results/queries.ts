import { useQuery } from '@tanstack/react-query'
import { API, api } from '@/api/client'

export const reportQuery = (campaign_id: string) =>
  api.queryOptions('get', `${API}/campaigns/{campaign_id}/report`, { params: { path: { campaign_id } } })

export const useReport = (campaign_id: string) => useQuery(reportQuery(campaign_id))

/** Comparisons of one phase, and of what is tested, with another condition than the campaign's first. */
export const useStatisticsAgainst = (campaign_id: string, baseline: string, phase: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/statistics`, { params: { path: { campaign_id }, query: { baseline, phase } } })

/** The links' nominal rates and base RTTs, for reference lines. */
export const useLinkFacts = () => api.useQuery('get', `${API}/links`, { params: { query: { limit: 100 } } })

export const useRunSeries = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/series`, { params: { path: { run_id } } })
