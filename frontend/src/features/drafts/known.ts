import { API, api } from '@/api/client'
import type { Agent, Link } from '@/api/types'
import type { Shape } from './schema'

interface ControlOption {
  choices: string[]
  min: number
  max: number
}

/** What this installation has, to choose from. */
export interface Known {
  links: Link[]
  controls: string[]
  /** Of the controls that agents bring along: what each takes. */
  options: Record<string, Record<string, ControlOption>>
}

interface HostFacts {
  congestion_controls?: string[]
  control_options?: Known['options'] | null
}

export function knownOf(links: readonly Link[], agents: readonly Agent[]): Known {
  const hosts = agents.filter((agent) => !agent.revoked_at).map((agent) => (agent.host ?? {}) as HostFacts)
  const options = Object.assign({}, ...hosts.map((host) => host.control_options ?? {})) as Known['options']
  const controls = new Set(['cubic', ...hosts.flatMap((host) => host.congestion_controls ?? []), ...Object.keys(options)])
  return { links: [...links], controls: [...controls].sort(), options }
}

const STALE_MS = 60_000

/** Links and controls that there are; none while they are not known. */
export function useKnown(): Known {
  const links = useDraftLinks()
  const agents = api.useQuery('get', `${API}/agents`, { params: { query: { limit: 200 } } })
  return knownOf(links.data?.items ?? [], agents.data?.items ?? [])
}

export const useDraftLinks = () => api.useQuery('get', `${API}/links`, { params: { query: { limit: 100 } } })

/** The campaign file's schema, which changes with the server alone. */
export const useSchema = () =>
  api.useQuery('get', `${API}/campaigns/schema`, {}, { staleTime: STALE_MS * 60, select: (schema) => schema as Shape })
