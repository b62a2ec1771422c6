import { API, api } from '@/api/client'

export const useCampaignDay = (campaign_id: string, phase: string, metric: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/day`, { params: { path: { campaign_id }, query: { phase, metric } } })

/** What is not for everybody (a visitor of a share link gets none of it) is not asked for again. */
const ONCE = { retry: false, throwOnError: false } as const

export const useCampaignQuantities = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/quantities`, { params: { path: { campaign_id } } }, ONCE)

export const useCampaignCorrelations = (campaign_id: string, phase: string, metric: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/correlations`, { params: { path: { campaign_id }, query: { phase, metric } } }, ONCE)
