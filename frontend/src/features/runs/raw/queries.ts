import { API, api } from '@/api/client'
import type { PointName } from './fields'
import type { Span } from './span'

/** As many as two for each pixel of a column that is half a large screen wide. */
const POINTS_SHOWN = 1000

/** Columns of one trace within the span; what is shown stays until the next is there. Kept: a sealed trace never changes. */
export function useSamples(run_id: string, flow: number, point: PointName, column: string[], asked: Partial<Span>, isThere: boolean) {
  const path = { run_id, flow: point === 'link' ? 0 : flow, point }
  const { from_s, to_s } = asked
  const query = { column, points: POINTS_SHOWN, ...(from_s === undefined ? {} : { from_s }), ...(to_s === undefined ? {} : { to_s }) }
  return api.useQuery(
    'get',
    `${API}/runs/{run_id}/traces/{flow}/{point}/samples`,
    { params: { path, query } },
    {
      enabled: isThere,
      staleTime: 600_000,
      placeholderData: (old) => (old?.run_id === run_id && old.flow === path.flow ? old : undefined),
    },
  )
}

export const useMoments = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/moments`, { params: { path: { run_id } } })

export const useRunQuantities = (run_id: string) =>
  api.useQuery('get', `${API}/runs/{run_id}/quantities`, { params: { path: { run_id } } }, { retry: false })
