import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { API, api } from '@/api/client'

export const useSetupState = () => api.useQuery('get', `${API}/setup`)

export const useLogin = () => api.useMutation('post', `${API}/login`)

export const useSetup = () => api.useMutation('post', `${API}/setup`)

export const useOpenInvitation = () => api.useMutation('post', `${API}/invitations/open`)

export const useAcceptInvitation = () => api.useMutation('post', `${API}/invitations/accept`)

export function useLogout() {
  const cache = useQueryClient()
  const router = useRouter()
  return api.useMutation('post', `${API}/logout`, {
    onSettled: () => {
      cache.clear()
      void router.navigate({ to: '/login', search: {} })
    },
  })
}

const tokensKey = ['get', `${API}/tokens`] as const

export const useTokens = () => api.useQuery('get', `${API}/tokens`)

export function useCreateToken() {
  const cache = useQueryClient()
  return api.useMutation('post', `${API}/tokens`, { onSuccess: () => cache.invalidateQueries({ queryKey: tokensKey }) })
}

const sessionsKey = ['get', `${API}/sessions`] as const

export const useSessions = () => api.useQuery('get', `${API}/sessions`)

export function useRevokeSession() {
  const cache = useQueryClient()
  return api.useMutation('delete', `${API}/sessions/{session_id}`, {
    onSuccess: () => cache.invalidateQueries({ queryKey: sessionsKey }),
  })
}

export function useChangePassword() {
  const cache = useQueryClient()
  return api.useMutation('post', `${API}/password`, { onSuccess: () => cache.invalidateQueries({ queryKey: sessionsKey }) })
}

export function useRevokeToken() {
  const cache = useQueryClient()
  return api.useMutation('delete', `${API}/tokens/{token_id}`, {
    onSuccess: () => cache.invalidateQueries({ queryKey: tokensKey }),
  })
}
