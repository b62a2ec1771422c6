import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const KEYS = ['accounts', 'invitations', 'audit'].map((name) => ['get', `${API}/${name}`] as const)

export const useAccounts = () => api.useQuery('get', `${API}/accounts`)

export const useInvitations = () => api.useQuery('get', `${API}/invitations`)

export const useAudit = (limit: number) => api.useQuery('get', `${API}/audit`, { params: { query: { limit } } })

/** Each change is on record, so that the record is asked for again with the rest. */
function useAskAgain() {
  const cache = useQueryClient()
  return { onSuccess: () => Promise.all(KEYS.map((queryKey) => cache.invalidateQueries({ queryKey }))) }
}

export const useInvite = () => api.useMutation('post', `${API}/invitations`, useAskAgain())

export const useWithdraw = () => api.useMutation('delete', `${API}/invitations/{invitation_id}`, useAskAgain())

export const useChangeRole = () => api.useMutation('patch', `${API}/accounts/{account_id}`, useAskAgain())

export const useRemoveAccount = () => api.useMutation('delete', `${API}/accounts/{account_id}`, useAskAgain())

export const useOfferPassword = () => api.useMutation('post', `${API}/accounts/{account_id}/password`, useAskAgain())
