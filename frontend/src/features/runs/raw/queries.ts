import { useQueries } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { API, api } from '@/api/client'
import type { Samples } from '@/api/types'
import type { PointName } from './fields'
import type { Span } from './span'

/** As many as two for each pixel of a column that is half a large screen wide. */
const POINTS_SHOWN = 1000

/** What has come of each point. */
export type Traces = Partial<Record<PointName, Samples | undefined>>

interface Asked {
  run_id: string
  flow: number
  /** What is asked of each point. */
  columns: readonly { point: PointName; names: string[] }[]
  span: Partial<Span>
}

/** Columns of traces within the span, in their order. Kept: a sealed trace never changes. */
export function useSamples({ run_id, flow, columns, span: { from_s, to_s } }: Asked) {
  const stretch = { points: POINTS_SHOWN, ...(from_s === undefined ? {} : { from_s }), ...(to_s === undefined ? {} : { to_s }) }
  return useQueries({
    queries: columns.map(({ point, names }) => {
      const path = { run_id, flow: flowOf(point, flow), point }
      return {
        ...api.queryOptions('get', `${API}/runs/{run_id}/traces/{flow}/{point}/samples`, {
          params: { path, query: { column: names, ...stretch } },
        }),
        staleTime: 600_000,
      }
    }),
  })
}

/**
 * What has come of each point; what was drawn stays until the next is there, so that the focus stays where it is.
 * useQueries does not know what it gave before, as useQuery does.
 */
export function useTraces({ run_id, flow, columns }: Asked, queries: readonly { data: Samples | undefined }[]): Traces {
  const drawn = useRef<Traces>({})
  const last = (point: PointName) => {
    const old = drawn.current[point]
    return old?.run_id === run_id && old.flow === flowOf(point, flow) ? old : undefined
  }
  const traces = Object.fromEntries(columns.map(({ point }, index) => [point, queries[index]?.data ?? last(point)]))
  useEffect(() => {
    drawn.current = traces
  })
  return traces
}

/** A link's log is of the run, whatever flow is shown. */
const flowOf = (point: PointName, flow: number) => (point === 'link' ? 0 : flow)

export const useMoments = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/moments`, { params: { path: { run_id } } })

export const useRunQuantities = (run_id: string) =>
  api.useQuery('get', `${API}/runs/{run_id}/quantities`, { params: { path: { run_id } } }, { retry: false })
