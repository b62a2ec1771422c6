import { API, api } from '@/api/client'

/** Of all phases against the campaign's first condition. */
export const useStatistics = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/statistics`, { params: { path: { campaign_id } } })

/** Of one phase, and of what is tested, against another condition. */
export const useStatisticsAgainst = (campaign_id: string, baseline: string, phase: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/statistics`, { params: { path: { campaign_id }, query: { baseline, phase } } })

export const useValues = (campaign_id: string, phase: string, metric: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/values`, { params: { path: { campaign_id }, query: { phase, metric } } })
