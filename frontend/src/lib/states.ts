import { formatMinute } from './time'

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

export type RunCounts = Record<(typeof RUN_STATES)[number], number>

/** How many runs hold their link or upload now. */
export const runsUnderWay = (counts: RunCounts) => UNDER_WAY.reduce((sum, state) => sum + counts[state as keyof RunCounts], 0)

interface Campaigning {
  state: string
  origin: string
  runs_ended: number
  runs_total: number
  counts: RunCounts
  next_due_at: string | null
  being_removed?: string | null
}

/** Below it, the next run is about to begin, and the campaign is not told as one that waits. */
const SOON_MS = 60_000

/**
 * A campaign's state, and the words of its badge, which are no better than its runs: an ended campaign with failed runs is not
 * `complete`, and one without a run until tonight is not `running`.
 */
export function campaignState(campaign: Campaigning, now_ms: number = Date.now()): { state: string; label: string } {
  const { state, origin, runs_ended, runs_total, counts } = campaign
  if (campaign.being_removed === 'all') return { state, label: 'being deleted' }
  // An imported one is complete when its last run is analysed.
  if (origin === 'imported' && runs_ended < runs_total) return { state: 'running', label: ANALYSED }
  if (state === 'complete') return endedState(counts.complete, runs_total)
  if (state === 'running' && runsUnderWay(counts) === 0) return waitingState(campaign, now_ms)
  return { state, label: state }
}

function endedState(complete: number, total: number) {
  if (complete >= total) return { state: 'complete', label: 'complete' }
  return complete === 0 ? { state: 'failed', label: 'no run complete' } : { state: 'incomplete', label: `${complete} of ${total} complete` }
}

function waitingState({ state, next_due_at, counts }: Campaigning, now_ms: number) {
  if (next_due_at && Date.parse(next_due_at) - now_ms > SOON_MS)
    return { state: 'planned', label: `waiting, next ${formatMinute(next_due_at)}` }
  return next_due_at || counts.planned > 0 ? { state, label: state } : { state: 'planned', label: 'waiting' }
}
