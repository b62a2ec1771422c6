import { QueryClient } from '@tanstack/react-query'
import { afterEach, expect, it, vi } from 'vitest'
import { API } from './client'
import { applyLiveEvent, followEvents, withProgress, withProgressNow } from './sync'
import type { CampaignNow, LiveKind } from './types'

const run = { id: 'r', live: null }

it('progress reaches the run that it is about, and no other', () => {
  const event = { run_id: 'r', elapsed_s: 3, bytes: 5 }
  expect(withProgress(run, event).live).toEqual({ elapsed_s: 3, bytes: 5, flows: [] })
  expect(withProgress({ ...run, id: 'other' }, event).live).toBeNull()
  expect(withProgress(run, { run_id: 'r', chunks_done: 1, chunks_total: 2 }).live).toBeNull()
})

it('what a campaign has carried grows with the run under way', () => {
  const now = { used_bytes: 100, active: [{ ...run, live: { elapsed_s: 2, bytes: 40 } }] } as unknown as CampaignNow
  const later = withProgressNow(now, { run_id: 'r', elapsed_s: 3, bytes: 55 })
  expect([later.used_bytes, later.active[0]?.live?.bytes]).toEqual([115, 55])
  expect(withProgressNow(now, { run_id: 'other', elapsed_s: 3, bytes: 55 })).toBe(now)
})

const KEYS = {
  list: ['get', `${API}/campaigns`, { params: { query: { limit: 100 } } }],
  campaign: ['get', `${API}/campaigns/{campaign_id}`, { params: { path: { campaign_id: 'c' } } }],
  other: ['get', `${API}/campaigns/{campaign_id}`, { params: { path: { campaign_id: 'd' } } }],
  runs: ['get', `${API}/campaigns/{campaign_id}/runs`, { params: { path: { campaign_id: 'c' }, query: { limit: 500 } } }],
  now: ['get', `${API}/campaigns/{campaign_id}/now`, { params: { path: { campaign_id: 'c' } } }],
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
  ['run', ['list', 'campaign', 'runs', 'now', 'run', 'runLimits', 'runExits', 'links']],
  ['campaign', ['list', 'campaign', 'runs', 'now', 'report', 'statistics', 'limits', 'exits', 'sweeps']],
  ['report', ['campaign', 'runs', 'now', 'report', 'statistics', 'limits', 'exits', 'sweeps']],
  ['reanalysis', ['run', 'runLimits', 'runExits']],
  ['unexpected', ['runs', 'run', 'runLimits', 'runExits']],
  ['sweep', ['sweeps']],
  ['agent', ['agents']],
  ['progress', []],
  ['refetch', Object.keys(KEYS)],
] satisfies [LiveKind, string[]][])('a %s event makes %o old and nothing else', (kind, stale) => {
  const cache = new QueryClient()
  for (const key of Object.values(KEYS)) cache.setQueryData(key, { items: [], active: [] })
  applyLiveEvent(cache, kind, { campaign_id: 'c', run_id: ['run', 'reanalysis', 'unexpected'].includes(kind) ? 'r' : null })
  const found = Object.entries(KEYS).filter(([, key]) => cache.getQueryState(key)?.isInvalidated)
  expect(found.map(([name]) => name)).toEqual([...stale])
})

afterEach(() => {
  vi.useRealTimers()
})

it('a hundred runs that change at once make one request of each kind now, and one a second later', () => {
  vi.useFakeTimers()
  const cache = new QueryClient()
  const invalidate = vi.spyOn(cache, 'invalidateQueries')
  const { take, stop } = followEvents(cache)
  for (let number = 0; number < 100; number++) take('run', { campaign_id: 'c', run_id: `r${number}` })
  expect(invalidate).toHaveBeenCalledTimes(1)
  cache.setQueryData(KEYS.run, { id: 'r' })
  take('run', { campaign_id: 'c', run_id: 'r' })
  vi.advanceTimersByTime(999)
  expect(invalidate).toHaveBeenCalledTimes(1)
  expect(cache.getQueryState(KEYS.run)?.isInvalidated).toBe(false)
  vi.advanceTimersByTime(1)
  expect(invalidate).toHaveBeenCalledTimes(2)
  expect(cache.getQueryState(KEYS.run)?.isInvalidated, 'nothing is lost').toBe(true)
  vi.advanceTimersByTime(60_000)
  expect(invalidate, 'and then there is rest').toHaveBeenCalledTimes(2)
  stop()
})

it('progress does not wait, and asks for nothing', () => {
  const cache = new QueryClient()
  const invalidate = vi.spyOn(cache, 'invalidateQueries')
  cache.setQueryData(KEYS.run, run)
  const { take } = followEvents(cache)
  take('run', { campaign_id: 'c', run_id: 'other' })
  invalidate.mockClear()
  for (const elapsed_s of [1, 2, 3]) take('progress', { run_id: 'r', elapsed_s, bytes: 5 })
  expect(cache.getQueryData(KEYS.run)).toMatchObject({ live: { elapsed_s: 3 } })
  expect(cache.getQueryState(KEYS.run)?.isInvalidated).toBe(false)
})
