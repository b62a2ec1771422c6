import { API, api } from '@/api/client'

/** What the hops of a run's flows did; sealed traces do not change. */
export const useRunHops = (run_id: string) =>
  api.useQuery('get', `${API}/runs/{run_id}/hops`, { params: { path: { run_id } } }, { staleTime: 600_000 })

/** The log of the emulated link that the run went over, where it keeps one. */
export const useRunLink = (run_id: string, isWanted: boolean) =>
  api.useQuery('get', `${API}/runs/{run_id}/link`, { params: { path: { run_id } } }, { enabled: isWanted, staleTime: 600_000 })
