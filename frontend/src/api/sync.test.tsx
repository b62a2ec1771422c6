import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { API } from './client'
import { applyLiveEvent, withProgress } from './sync'
import type { LiveKind } from './types'

const run = { id: 'r', live: null }

it('progress reaches the run that it is about, and no other', () => {
  const event = { run_id: 'r', elapsed_s: 3, bytes: 5 }
  expect(withProgress(run, event).live).toEqual({ elapsed_s: 3, bytes: 5 })
  expect(withProgress({ ...run, id: 'other' }, event).live).toBeNull()
  expect(withProgress(run, { run_id: 'r', chunks_done: 1, chunks_total: 2 }).live).toBeNull()
})

const KEYS = {
  list: ['get', `${API}/campaigns`, { params: { query: { limit: 100 } } }],
  campaign: ['get', `${API}/campaigns/{campaign_id}`, { params: { path: { campaign_id: 'c' } } }],
  other: ['get', `${API}/campaigns/{campaign_id}`, { params: { path: { campaign_id: 'd' } } }],
  runs: ['get', `${API}/campaigns/{campaign_id}/runs`, { params: { path: { campaign_id: 'c' }, query: { limit: 500 } } }],
  report: ['get', `${API}/campaigns/{campaign_id}/report`, { params: { path: { campaign_id: 'c' } } }],
  statistics: ['get', `${API}/campaigns/{campaign_id}/statistics`, { params: { path: { campaign_id: 'c' } } }],
  limits: ['get', `${API}/campaigns/{campaign_id}/limits`, { params: { path: { campaign_id: 'c' } } }],
  exits: ['get', `${API}/campaigns/{campaign_id}/exits`, { params: { path: { campaign_id: 'c' } } }],
  run: ['get', `${API}/runs/{run_id}`, { params: { path: { run_id: 'r' } } }],
  runLimits: ['get', `${API}/runs/{run_id}/limits`, { params: { path: { run_id: 'r' } } }],
  runExits: ['get', `${API}/runs/{run_id}/exits`, { params: { path: { run_id: 'r' }, query: { points: 1000 } } }],
  otherRun: ['get', `${API}/runs/{run_id}/limits`, { params: { path: { run_id: 's' } } }],
  links: ['get', `${API}/links`, { params: { query: { limit: 100 } } }],
  sweeps: ['get', `${API}/campaigns/{campaign_id}/sweeps`, { params: { path: { campaign_id: 'c' }, query: { limit: 20 } } }],
  agents: ['get', `${API}/agents`, { params: { query: { limit: 200 } } }],
}

it.each([
  ['run', ['list', 'campaign', 'runs', 'run', 'runLimits', 'runExits', 'links']],
  ['campaign', ['list', 'campaign', 'runs', 'report', 'statistics', 'limits', 'exits', 'sweeps']],
  ['report', ['campaign', 'runs', 'report', 'statistics', 'limits', 'exits', 'sweeps']],
  ['reanalysis', ['run', 'runLimits', 'runExits']],
  ['sweep', ['sweeps']],
  ['agent', ['agents']],
  ['progress', []],
  ['refetch', Object.keys(KEYS)],
] satisfies [LiveKind, string[]][])('a %s event makes %o old and nothing else', (kind, stale) => {
  const cache = new QueryClient()
  for (const key of Object.values(KEYS)) cache.setQueryData(key, { items: [] })
  applyLiveEvent(cache, kind, { campaign_id: 'c', run_id: ['run', 'reanalysis'].includes(kind) ? 'r' : null })
  const found = Object.entries(KEYS).filter(([, key]) => cache.getQueryState(key)?.isInvalidated)
  expect(found.map(([name]) => name)).toEqual([...stale])
})
