import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const KEYS = ['retention', 'campaigns/{campaign_id}/retention'].map((name) => ['get', `${API}/${name}`] as const)

/** While something is removed, ask again until it is gone. */
const WHILE_GOING_MS = 2000

export const useStorage = () => api.useQuery('get', `${API}/retention`)

export const useRetention = (campaign_id: string) =>
  api.useQuery(
    'get',
    `${API}/campaigns/{campaign_id}/retention`,
    { params: { path: { campaign_id } } },
    { refetchInterval: ({ state }) => (state.data?.going ? WHILE_GOING_MS : false) },
  )

export const usePreview = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/retention/preview`)

function useAskAgain() {
  const cache = useQueryClient()
  return { onSuccess: () => Promise.all(KEYS.map((queryKey) => cache.invalidateQueries({ queryKey }))) }
}

export const useSetRetention = () => api.useMutation('put', `${API}/campaigns/{campaign_id}/retention`, useAskAgain())

export const useRemoveData = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/removal`, useAskAgain())
