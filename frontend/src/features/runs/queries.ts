import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const at = (run_id: string) => ({ params: { path: { run_id } } })

/** As many runs as one answer holds; a campaign beyond it says so and points at runs.csv. */
export const RUNS_SHOWN = 500

export const useRuns = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/runs`, { params: { path: { campaign_id }, query: { limit: RUNS_SHOWN } } })

export const useRun = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}`, at(run_id))

export function useCancelRun() {
  const cache = useQueryClient()
  return api.useMutation('post', `${API}/runs/{run_id}/cancel`, {
    onSuccess: (run) => cache.invalidateQueries({ queryKey: ['get', `${API}/runs/{run_id}`, at(run.id)] }),
  })
}
