import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const KEYS = ['channels', 'channels/{channel_id}/notifications'].map((name) => ['get', `${API}/${name}`] as const)

export const useChannels = () => api.useQuery('get', `${API}/channels`)

export const useSent = (channel_id: string) =>
  api.useQuery('get', `${API}/channels/{channel_id}/notifications`, { params: { path: { channel_id }, query: { limit: 50 } } })

/** What a channel is and what it did last stand in the same list. */
function useAskAgain() {
  const cache = useQueryClient()
  return { onSuccess: () => Promise.all(KEYS.map((queryKey) => cache.invalidateQueries({ queryKey }))) }
}

export const useAddChannel = () => api.useMutation('post', `${API}/channels`, useAskAgain())

export const useChangeChannel = () => api.useMutation('patch', `${API}/channels/{channel_id}`, useAskAgain())

export const useRemoveChannel = () => api.useMutation('delete', `${API}/channels/{channel_id}`, useAskAgain())

export const useTestChannel = () => api.useMutation('post', `${API}/channels/{channel_id}/test`, useAskAgain())
