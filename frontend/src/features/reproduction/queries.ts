import { API, api } from '@/api/client'

export const useReproductions = () => api.useQuery('get', `${API}/reproduction`)
