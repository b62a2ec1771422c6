import { API, api } from '@/api/client'

export const useReport = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/report`, { params: { path: { campaign_id } } })

/** The links' nominal rates and base RTTs, for reference lines. */
export const useLinkFacts = () => api.useQuery('get', `${API}/links`, { params: { query: { limit: 100 } } })

export const useRunSeries = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/series`, { params: { path: { run_id } } })
