import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const PATH = `${API}/links`

export const useLinks = () => api.useQuery('get', `${API}/links`, { params: { query: { limit: 100 } } })

/** The agents' names, for the ends of a link. */
export const useAgentNames = () =>
  api.useQuery(
    'get',
    `${API}/agents`,
    { params: { query: { limit: 200 } } },
    {
      select: ({ items }) => items.filter((agent) => !agent.revoked_at).map((agent) => agent.name),
    },
  )

/** What an emulated link did during a run. */
export const useRunLink = (run_id: string) => api.useQuery('get', `${API}/runs/{run_id}/link`, { params: { path: { run_id } } })

function useRefreshing() {
  const cache = useQueryClient()
  return { onSuccess: () => cache.invalidateQueries({ queryKey: ['get', PATH] }) }
}

export const useCreateLink = () => api.useMutation('post', `${API}/links`, useRefreshing())
export const useChangeLink = () => api.useMutation('patch', `${API}/links/{link_id}`, useRefreshing())
export const useDeleteLink = () => api.useMutation('delete', `${API}/links/{link_id}`, useRefreshing())

/** A run is added: campaigns and links are asked for again. */
export function useQuickTest() {
  const cache = useQueryClient()
  return api.useMutation('post', `${API}/links/{link_id}/quick-test`, { onSuccess: () => cache.invalidateQueries() })
}

/** What is known of a link over time. */
export const useLinkQuantities = (link_id: string) =>
  api.useQuery('get', `${API}/links/{link_id}/quantities`, { params: { path: { link_id } } })

/** The weather service that the server asks, and what it answered. */
export const useWeather = () => api.useQuery('get', `${API}/weather`)

/** The day before a moment. */
export const useLinkStrips = (link_id: string, to_at: string) =>
  api.useQuery('get', `${API}/links/{link_id}/observations`, { params: { path: { link_id }, query: { to_at } } })

export function useImportStation() {
  const cache = useQueryClient()
  return api.useMutation('post', `${API}/links/{link_id}/observations/import`, { onSuccess: () => cache.invalidateQueries() })
}
