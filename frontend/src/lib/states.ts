/** What a state means to a reader: how far along, and whether it is good news. */
export type Tone = 'waiting' | 'active' | 'good' | 'partial' | 'bad' | 'ended'

const TONES: Record<string, Tone> = {
  draft: 'waiting',
  queued: 'waiting',
  planned: 'waiting',
  paused: 'partial',
  leased: 'active',
  preparing: 'active',
  running: 'active',
  restoring: 'active',
  uploading: 'active',
  complete: 'good',
  incomplete: 'partial',
  failed: 'bad',
  missed: 'bad',
  cancelled: 'ended',
  // Of an exit against the capacity point and the first loss.
  early: 'partial',
  good: 'good',
  late: 'bad',
  open: 'ended',
}

export function toneOf(state: string): Tone {
  return TONES[state] ?? 'waiting'
}

/** Run states in the order in which a run passes through them, ends last. */
export const RUN_STATES = [
  'planned',
  'leased',
  'preparing',
  'running',
  'restoring',
  'uploading',
  'complete',
  'incomplete',
  'failed',
  'cancelled',
  'missed',
] as const

export const UNDER_WAY: readonly string[] = ['leased', 'preparing', 'running', 'restoring', 'uploading']
