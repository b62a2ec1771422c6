import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const LIST = `${API}/campaigns/{campaign_id}/shares` as const

export const useShares = (campaign_id: string) => api.useQuery('get', LIST, { params: { path: { campaign_id } } })

function useRefreshing() {
  const cache = useQueryClient()
  return { onSuccess: () => cache.invalidateQueries({ queryKey: ['get', LIST] }) }
}

export const useMakeShare = () => api.useMutation('post', LIST, useRefreshing())
export const useRevokeShare = () => api.useMutation('delete', `${API}/campaigns/{campaign_id}/shares/{share_id}`, useRefreshing())

/** Gives the secret of a link and gets a cookie, which no script can read. */
export const useOpenShare = () => api.useMutation('post', `${API}/shares/open`)
