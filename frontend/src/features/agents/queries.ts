import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'

const KEY = ['get', `${API}/agents`] as const
const POLL_MS = 20_000

export const useAgents = () => api.useQuery('get', `${API}/agents`, { params: { query: { limit: 200 } } }, { refetchInterval: POLL_MS })

/** The systemd unit, as text. */
export const useUnit = () => api.useQuery('get', `${API}/agents/unit`, { parseAs: 'text' })

/** Which of the agent's programs this server has. */
export const usePrograms = () => api.useQuery('get', `${API}/agents/binaries`)

export const useEnrol = () => api.useMutation('post', `${API}/agents/enrolments`)

function useChanged() {
  const cache = useQueryClient()
  return { onSuccess: () => cache.invalidateQueries({ queryKey: KEY }) }
}

export const useRevokeAgent = () => api.useMutation('delete', `${API}/agents/{agent_id}`, useChanged())

export const usePauseAgent = () => api.useMutation('put', `${API}/agents/{agent_id}/pause`, useChanged())

export const useResumeAgent = () => api.useMutation('delete', `${API}/agents/{agent_id}/pause`, useChanged())
