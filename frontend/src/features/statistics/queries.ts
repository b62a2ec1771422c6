import { API, api } from '@/api/client'

/** Of all phases against the campaign's first condition. */
export const useStatistics = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/statistics`, { params: { path: { campaign_id } } })
