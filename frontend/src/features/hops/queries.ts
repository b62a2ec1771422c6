import { API, api } from '@/api/client'

/** What the hops of a run's flows did; sealed traces do not change. */
export const useRunHops = (run_id: string) =>
  api.useQuery('get', `${API}/runs/{run_id}/hops`, { params: { path: { run_id } } }, { staleTime: 600_000 })
