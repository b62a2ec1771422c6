import { useQueries } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import type { Samples } from '@/api/types'
import type { PointName } from './fields'
import type { Span } from './span'

/** As many as two for each pixel of a column that is half a large screen wide. */
const POINTS_SHOWN = 1000

interface Asked {
  run_id: string
  flow: number
  /** What is asked of each point. */
  columns: readonly { point: PointName; names: string[] }[]
  span: Partial<Span>
}

/** Columns of traces within the span, in their order; what is shown stays until the next is there. Kept: a sealed trace never changes. */
export function useSamples({ run_id, flow, columns, span: { from_s, to_s } }: Asked) {
  const stretch = { points: POINTS_SHOWN, ...(from_s === undefined ? {} : { from_s }), ...(to_s === undefined ? {} : { to_s }) }
  return useQueries({
    queries: columns.map(({ point, names }) => {
      const path = { run_id, flow: point === 'link' ? 0 : flow, point }
      return {
        ...api.queryOptions('get', `${API}/runs/{run_id}/traces/{flow}/{point}/samples`, {
          params: { path, query: { column: names, ...stretch } },
        }),
        staleTime: 600_000,
        placeholderData: (old: Samples | undefined) =>
          old?.run_id === run_id && old.flow === path.flow && old.point === point ? old : undefined,
      }
    }),
  })
}

export const useMoments = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/moments`, { params: { path: { run_id } } })

export const useRunQuantities = (run_id: string) =>
  api.useQuery('get', `${API}/runs/{run_id}/quantities`, { params: { path: { run_id } } }, { retry: false })
