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
  unexpected: 'partial',
  making: 'active',
  ready: 'good',
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

/** Between planned and ended. */
export const UNDER_WAY: readonly string[] = RUN_STATES.slice(1, 6)

const ANALYSED = 'being analysed'

interface Judged {
  state: string
  import_source?: { partial?: readonly string[] } | null
  implausible?: readonly string[] | null
  decision?: { keeps: boolean } | null
}

/** A run's state in a word or two, with what is to know of its numbers. An imported run has nothing to upload: it waits for its analysis. */
export function runStateText({ state, import_source: file, implausible, decision }: Judged): string {
  const remarks = [file?.partial?.length && 'partial', implausible?.length && 'implausible', decision?.keeps === false && 'left out']
  return [file && UNDER_WAY.includes(state) ? ANALYSED : state, ...remarks].filter(Boolean).join(', ')
}

/** A campaign's state and its name. An imported one is complete when its last run is analysed. */
export function campaignState(campaign: {
  state: string
  origin: string
  runs_ended: number
  runs_total: number
  being_removed?: string | null
}) {
  if (campaign.being_removed === 'all') return { state: campaign.state, label: 'being deleted' }
  const isAnalysed = campaign.origin === 'imported' && campaign.runs_ended < campaign.runs_total
  return isAnalysed ? { state: 'running', label: ANALYSED } : { state: campaign.state, label: campaign.state }
}
