import { API, api } from './client'

/** Comparisons of one phase, and of what is tested, with another condition than the campaign's first. */
export const useStatisticsAgainst = (campaign_id: string, baseline: string, phase: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/statistics`, { params: { path: { campaign_id }, query: { baseline, phase } } })

/** One quantity of every run. */
export const useValues = (campaign_id: string, phase: string, metric: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/values`, { params: { path: { campaign_id }, query: { phase, metric } } })
