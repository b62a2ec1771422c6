import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const at = (run_id: string) => ({ params: { path: { run_id } } })

export const useRun = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}`, at(run_id))

export const useRunSeries = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/series`, at(run_id))

/** Verdicts with the curves between two times; the old curves stay while new ones come. */
export const useRunExits = (run_id: string, span?: { from_s: number; to_s: number }) =>
  api.useQuery(
    'get',
    `${API}/runs/{run_id}/exits`,
    { params: { path: { run_id }, ...(span ? { query: span } : {}) } },
    { placeholderData: (old) => (old?.run_id === run_id ? old : undefined) },
  )

export const useRunLimits = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/limits`, at(run_id))

export function useCancelRun() {
  const cache = useQueryClient()
  return api.useMutation('post', `${API}/runs/{run_id}/cancel`, {
    onSuccess: (run) => cache.invalidateQueries({ queryKey: ['get', `${API}/runs/{run_id}`, at(run.id)] }),
  })
}
