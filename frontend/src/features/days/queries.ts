import { API, api } from '@/api/client'

export const useCampaignDay = (campaign_id: string, phase: string, metric: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/day`, { params: { path: { campaign_id }, query: { phase, metric } } })
