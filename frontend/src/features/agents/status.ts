import type { Agent } from '@/api/types'
import { formatBytes, formatNumber, formatRate } from '@/lib/format'
import { formatMoment } from '@/lib/time'

type Standing = Pick<Agent, 'status' | 'is_online' | 'is_too_old' | 'revoked_at' | 'pause' | 'detail'>

/** An owner's pause on the host is a wish and no fault; the agent reports it as `blocked`, with this sentence. */
export const isPausedByOwner = ({ status, detail }: Pick<Agent, 'status' | 'detail'>) =>
  status === 'blocked' && detail?.startsWith('paused by its owner') === true

/** What an agent is doing, in words. */
export function statusText(agent: Standing & Pick<Agent, 'progress'>): string {
  if (agent.revoked_at) return 'revoked'
  if (agent.is_too_old) return 'too old'
  if (!agent.is_online) return 'offline'
  const progress = agent.progress
  if (agent.status === 'uploading' && progress?.chunks_total) return `uploading ${progress.chunks_done ?? 0} of ${progress.chunks_total}`
  if (agent.status === 'running') return 'measuring'
  if (isPausedByOwner(agent) || (agent.pause && agent.status === 'idle')) return 'paused'
  return agent.status
}

/** A state of lib/states with the same tone. */
export function statusState(agent: Standing): string {
  if (agent.revoked_at) return 'cancelled'
  if (agent.is_too_old) return 'failed'
  if (!agent.is_online) return 'missed'
  if (isPausedByOwner(agent)) return 'cancelled'
  if (agent.status === 'blocked') return 'failed'
  if (agent.status !== 'idle') return agent.status
  return agent.pause ? 'cancelled' : 'complete'
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
  /** What its owner allows; what is not there is not bounded. */
  policy?: {
    max_seconds?: number
    max_bytes?: number
    max_rate_bps?: number
    month?: { limit_bytes: number; used_bytes: number; resets_on: string }
    quiet_hours?: string[]
  }
  /** What must be added to the host's clock to get the server's. */
  clock?: { offset_ms: number; error_ms: number }
}

/** "1.5 ms behind the server’s, ± 0.4 ms"; a dash for an agent that does not say. */
export function clockText(clock: HostFacts['clock']): string {
  if (!clock) return '–'
  const side = clock.offset_ms < 0 ? 'ahead of' : 'behind'
  return `${formatNumber(Math.abs(clock.offset_ms), 1)} ms ${side} the server’s, ± ${formatNumber(clock.error_ms, 1)} ms`
}

/** What the host's owner allows one run: "at most 3,600 s, 2.0 GB and 50 Mb/s". */
export function runLimitText(policy: HostFacts['policy']): string {
  if (!policy) return '–'
  const limits = [
    policy.max_seconds ? `${formatNumber(policy.max_seconds, 0)} s` : null,
    policy.max_bytes ? formatBytes(policy.max_bytes) : null,
    policy.max_rate_bps ? formatRate(policy.max_rate_bps) : null,
  ].filter((limit) => limit !== null)
  if (limits.length === 0) return 'no limit'
  return `at most ${limits.length > 1 ? `${limits.slice(0, -1).join(', ')} and ` : ''}${limits.at(-1)}`
}

/** The used part of the owner's monthly budget, and when it resets. */
export function monthText(policy: HostFacts['policy']): string {
  if (!policy) return '–'
  if (!policy.month) return 'no limit'
  const { used_bytes, limit_bytes, resets_on } = policy.month
  const percent = formatNumber((100 * used_bytes) / limit_bytes, 0)
  return `${formatBytes(used_bytes)} of ${formatBytes(limit_bytes)} used (${percent} %); it resets on ${resets_on}`
}

/** The host's facts that people ask for, from what the agent sent at joining. */
export function hostFacts(host: Agent['host']): HostFacts {
  return (host ?? {}) as HostFacts
}

const DOES: Record<string, string> = { sender: 'sends', receiver: 'receives', relay: 'relays' }

export const rolesText = (roles: readonly string[]) => roles.map((role) => DOES[role] ?? role).join(' and ')

/** Whether the server's address in a command is one that a host has for itself alone. */
export const isLoopback = (command: string) => /\bhttps?:\/\/(127\.[\d.]+|localhost|\[::1\])(?=[:/\s]|$)/.test(command)
