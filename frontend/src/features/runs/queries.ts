import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const at = (run_id: string) => ({ params: { path: { run_id } } })

/** As many runs as one answer holds; a larger campaign shows that and points at runs.csv. */
export const RUNS_SHOWN = 500

export const useRuns = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/runs`, { params: { path: { campaign_id }, query: { limit: RUNS_SHOWN } } })

export const useRun = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}`, at(run_id))

/** Fetches runs and their campaigns again, whether or not the event stream is connected. */
function useRefreshing() {
  const cache = useQueryClient()
  const isTold = (path: unknown) => /^\/api\/v1\/(runs|campaigns)\b/.test(String(path))
  return { onSuccess: () => cache.invalidateQueries({ predicate: ({ queryKey }) => isTold(queryKey[1]) }) }
}

export const useCancelRun = () => api.useMutation('post', `${API}/runs/{run_id}/cancel`, useRefreshing())
export const useRerunRun = () => api.useMutation('post', `${API}/runs/{run_id}/rerun`, useRefreshing())
export const useRerunCampaign = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/rerun`, useRefreshing())
export const useDecideRun = () => api.useMutation('put', `${API}/runs/{run_id}/decision`, useRefreshing())
export const useUndoDecision = () => api.useMutation('delete', `${API}/runs/{run_id}/decision`, useRefreshing())
