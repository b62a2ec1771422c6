import type { Agent } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { formatMoment } from '@/lib/time'

/** What an agent is doing, in words. */
export function statusText(agent: Pick<Agent, 'status' | 'is_online' | 'is_too_old' | 'progress' | 'revoked_at' | 'pause'>): string {
  if (agent.revoked_at) return 'revoked'
  if (agent.is_too_old) return 'too old'
  if (!agent.is_online) return 'offline'
  const progress = agent.progress
  if (agent.status === 'uploading' && progress?.chunks_total) return `uploading ${progress.chunks_done ?? 0} of ${progress.chunks_total}`
  if (agent.status === 'running') return 'measuring'
  if (agent.pause && agent.status === 'idle') return 'paused'
  return agent.status
}

/** A state of lib/states with the same tone. */
export function statusState(agent: Pick<Agent, 'status' | 'is_online' | 'is_too_old' | 'revoked_at' | 'pause'>): string {
  if (agent.revoked_at) return 'cancelled'
  if (agent.is_too_old) return 'failed'
  if (!agent.is_online) return 'missed'
  if (agent.status === 'blocked') return 'failed'
  if (agent.status !== 'idle') return agent.status
  return agent.pause ? 'paused' : 'complete'
}

/** Who paused the agent on this server, until when and why. */
export function pauseText(pause: NonNullable<Agent['pause']>): string {
  const until = pause.until ? `until ${formatMoment(pause.until)}` : 'until somebody resumes it'
  return `Paused by ${pause.by} ${until}${pause.why ? ` (${pause.why})` : ''}.`
}

interface HostFacts {
  kernel?: string
  os?: string
  arch?: string
  cpus?: number
  roles?: string[]
  congestion_controls?: string[]
  /** Name to the reason why this host cannot run it. */
  controls_unavailable?: Record<string, string>
  settings_writable?: string[]
  /** What must be added to the host's clock to get the server's. */
  clock?: { offset_ms: number; error_ms: number }
}

/** "+1.5 ms off the server's, known within 0.4 ms"; a dash for an agent that does not say. */
export function clockText(clock: HostFacts['clock']): string {
  if (!clock) return '–'
  const sign = clock.offset_ms > 0 ? '+' : ''
  return `${sign}${formatNumber(clock.offset_ms, 1)} ms to the server's, known within ${formatNumber(clock.error_ms, 1)} ms`
}

/** The host's facts that people ask for, from what the agent sent at joining. */
export function hostFacts(host: Agent['host']): HostFacts {
  return (host ?? {}) as HostFacts
}
