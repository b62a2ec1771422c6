import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { API } from './client'
import { applyLiveEvent, withProgress } from './sync'

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
  sweeps: ['get', `${API}/campaigns/{campaign_id}/sweeps`, { params: { path: { campaign_id: 'c' }, query: { limit: 20 } } }],
  agents: ['get', `${API}/agents`, { params: { query: { limit: 200 } } }],
}

it.each([
  ['run', ['list', 'campaign', 'runs']],
  ['campaign', ['list', 'campaign', 'runs']],
  ['report', ['campaign', 'report']],
  ['sweep', ['sweeps']],
  ['agent', ['agents']],
  ['progress', []],
  ['refetch', ['list', 'campaign', 'other', 'runs', 'report', 'sweeps', 'agents']],
] as const)('a %s event makes %o old and nothing else', (kind, stale) => {
  const cache = new QueryClient()
  for (const key of Object.values(KEYS)) cache.setQueryData(key, { items: [] })
  applyLiveEvent(cache, kind, { campaign_id: 'c' })
  const found = Object.entries(KEYS).filter(([, key]) => cache.getQueryState(key)?.isInvalidated)
  expect(found.map(([name]) => name)).toEqual([...stale])
})
