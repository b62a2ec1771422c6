import type { CampaignDetail, RunSummary } from '@/api/types'
import { UNDER_WAY } from '@/lib/states'

const UNWANTED: readonly string[] = ['failed', 'missed', 'incomplete']

const placeOf = ({ link, cycle, position }: RunSummary) => JSON.stringify([link, cycle, position])

/** The ids of the last attempts: each place of the plan has one. */
export function lastAttempts(runs: readonly RunSummary[]): Set<string> {
  const last = new Map<string, RunSummary>()
  for (const run of runs) {
    const known = last.get(placeOf(run))
    if (!known || known.attempt < run.attempt) last.set(placeOf(run), run)
  }
  return new Set([...last.values()].map(({ id }) => id))
}

/** Whether runs of this campaign can be run again; the server decides in the same way. */
export const isOpenToReruns = ({ origin, state }: Pick<CampaignDetail, 'origin' | 'state'>) =>
  origin === 'measured' && ['running', 'paused', 'complete'].includes(state)

/** Whether this last attempt ended without being complete. */
export const isRepeatable = (state: string) => state === 'cancelled' || UNWANTED.includes(state)

export const isStoppable = (state: string) => state === 'planned' || UNDER_WAY.includes(state)

/** How many places a campaign's rerun would take: those whose last attempt ended as nobody wanted it. */
export function countUnwanted(runs: readonly RunSummary[]): number {
  const last = lastAttempts(runs)
  return runs.filter(({ id, state }) => last.has(id) && UNWANTED.includes(state)).length
}
