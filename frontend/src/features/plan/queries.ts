import { API, api } from '@/api/client'

export const usePreview = () => api.useMutation('post', `${API}/campaigns/preview`)

/** Links with what their allowances leave. */
export const useAllowances = () => api.useQuery('get', `${API}/links`, { params: { query: { limit: 100 } } })

/** What would be in the way of a saved draft's launch; live events about agents make it old. */
export const useDraftPreview = (source: string) => api.useQuery('post', `${API}/campaigns/preview`, { body: { source } })
