import { API, api } from '@/api/client'

export const useCampaignExits = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/exits`, { params: { path: { campaign_id } } })

/** Verdicts with the curves between two times; the old curves stay while new ones come. */
export const useRunExits = (run_id: string, span?: { from_s: number; to_s: number }) =>
  api.useQuery(
    'get',
    `${API}/runs/{run_id}/exits`,
    { params: { path: { run_id }, ...(span ? { query: span } : {}) } },
    { placeholderData: (old) => (old?.run_id === run_id ? old : undefined) },
  )
