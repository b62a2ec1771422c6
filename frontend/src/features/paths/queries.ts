import { keepPreviousData, useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import type { SatellitePath } from '@/api/types'
import type { Span } from './span'

/** Paths send no events: asked again while one is being made. */
const POLL_MS = 1_000
/** So many points of a strip: about one for two pixels. */
const POINTS = 600
const LIST = `${API}/paths` as const

const isOnItsWay = ({ state }: SatellitePath) => state === 'queued' || state === 'making'

export const usePaths = () =>
  api.useQuery(
    'get',
    LIST,
    { params: { query: { limit: 100 } } },
    { refetchInterval: (query) => (query.state.data?.items.some(isOnItsWay) ? POLL_MS : false) },
  )

export const usePath = (path_id: string) =>
  api.useQuery(
    'get',
    `${LIST}/{path_id}`,
    { params: { path: { path_id } } },
    { refetchInterval: (query) => (query.state.data && isOnItsWay(query.state.data) ? POLL_MS : false) },
  )

/** Does not change while the server runs. */
export const useReadyPaths = () => api.useQuery('get', `${LIST}/ready`, {}, { staleTime: Number.POSITIVE_INFINITY })

/** Delay and changes between two times. */
export const useStrip = (path_id: string, { from_us, to_us }: Span) =>
  api.useQuery(
    'get',
    `${LIST}/{path_id}/window`,
    { params: { path: { path_id }, query: { from_us, to_us, points: POINTS } } },
    { placeholderData: keepPreviousData, staleTime: Number.POSITIVE_INFINITY },
  )

/** What holds at one moment: a window of a microsecond, so that its delay is exact. */
export function useMoment(path_id: string, at_us: number, duration_us: number) {
  const from_us = Math.min(at_us, duration_us - 1)
  return api.useQuery(
    'get',
    `${LIST}/{path_id}/window`,
    { params: { path: { path_id }, query: { from_us, to_us: from_us + 1, at_us, points: 2 } } },
    { placeholderData: keepPreviousData, staleTime: Number.POSITIVE_INFINITY },
  )
}

function useRefreshing() {
  const cache = useQueryClient()
  return { onSuccess: () => cache.invalidateQueries({ queryKey: ['get', LIST] }) }
}

export const useMakePath = () => api.useMutation('post', LIST, useRefreshing())
export const useDeletePath = () => api.useMutation('delete', `${LIST}/{path_id}`, useRefreshing())
