import { API, api } from '@/api/client'

export const useCampaignLimits = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/limits`, { params: { path: { campaign_id } } })

export const useRunLimits = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/limits`, { params: { path: { run_id } } })
