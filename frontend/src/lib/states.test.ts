import { expect, it } from 'vitest'
import { campaignState, RUN_STATES, type RunCounts } from './states'

const counts = (some: Partial<RunCounts>) => ({ ...Object.fromEntries(RUN_STATES.map((state) => [state, 0])), ...some }) as RunCounts
const NOW = Date.parse('2026-01-02T03:00:00Z')
const base = { state: 'running', origin: 'measured', runs_ended: 12, runs_total: 12, next_due_at: null, being_removed: null }

it.each([
  [{ state: 'complete', counts: counts({ complete: 12, failed: 2 }) }, 'complete', 'complete'],
  [{ state: 'complete', counts: counts({ complete: 10, failed: 2 }) }, 'incomplete', '10 of 12 complete'],
  [{ state: 'complete', counts: counts({ failed: 12 }) }, 'failed', 'no run complete'],
  [{ state: 'cancelled', counts: counts({ complete: 5, cancelled: 7 }) }, 'cancelled', 'cancelled'],
  [{ counts: counts({ running: 1, planned: 3 }), next_due_at: '2026-01-02T22:00:00Z' }, 'running', 'running'],
  [{ counts: counts({ planned: 3 }), next_due_at: '2026-01-02T22:00:00Z' }, 'planned', 'waiting, next 2 Jan, 22:00 UTC'],
  [{ counts: counts({ planned: 3 }), next_due_at: '2026-01-02T03:00:30Z' }, 'running', 'running'],
  [{ counts: counts({}) }, 'planned', 'waiting'],
  [{ origin: 'imported', runs_ended: 3, counts: counts({ uploading: 9 }) }, 'running', 'being analysed'],
  [{ being_removed: 'all', counts: counts({}) }, 'running', 'being deleted'],
] as const)('a badge is no better than its runs: %o', (campaign, state, label) => {
  expect(campaignState({ ...base, ...campaign }, NOW)).toEqual({ state, label })
})
