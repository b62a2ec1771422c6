import type { QueryClient } from '@tanstack/react-query'
import { API } from './client'
import type { CampaignNow, LiveEvent, LiveKind, Run, RunList } from './types'

type Key = readonly unknown[]

/** Whether a query is of this path, with these path parameters if any are given, whatever its others are. */
function isOf(
  [, path, options]: Key,
  wanted: { path?: string; campaign_id?: string | null | undefined; run_id?: string | null | undefined },
) {
  const found = (options as { params?: { path?: { campaign_id?: string; run_id?: string } } } | undefined)?.params?.path
  return (
    (wanted.path === undefined || path === `${API}${wanted.path}`) &&
    (wanted.campaign_id == null || found?.campaign_id === wanted.campaign_id) &&
    (wanted.run_id == null || found?.run_id === wanted.run_id)
  )
}

/** Whether an event makes the query old: all that is told of a run, or of a campaign, changes with it. */
export function isStale(key: Key, kind: LiveKind, { campaign_id, run_id }: LiveEvent): boolean {
  const isCampaign = (path?: string) => campaign_id != null && isOf(key, path === undefined ? { campaign_id } : { campaign_id, path })
  switch (kind) {
    case 'run':
      return (
        (run_id != null && isOf(key, { run_id })) ||
        isCampaign('/campaigns/{campaign_id}') ||
        isCampaign('/campaigns/{campaign_id}/now') ||
        isCampaign('/campaigns/{campaign_id}/runs') ||
        isCampaign('/campaigns/{campaign_id}/day') ||
        isOf(key, { path: '/campaigns' }) ||
        isOf(key, { path: '/links' })
      )
    case 'campaign':
      return (
        isCampaign() ||
        isOf(key, { path: '/calendar' }) ||
        isOf(key, { path: '/campaigns/choices' }) ||
        isOf(key, { path: '/campaigns' }) ||
        isOf(key, { path: '/reproduction' })
      )
    case 'reanalysis':
      return run_id != null && isOf(key, { run_id })
    case 'unexpected':
      return (run_id != null && isOf(key, { run_id })) || isCampaign('/campaigns/{campaign_id}/runs')
    case 'report':
      return isCampaign() || isOf(key, { path: '/reproduction' }) || isOf(key, { path: '/comparison' })
    case 'sweep':
      return isCampaign('/campaigns/{campaign_id}/sweeps')
    case 'agent':
      return isOf(key, { path: '/agents' }) || isOf(key, { path: '/campaigns/preview' })
    case 'service':
      return isOf(key, { path: '/service' })
    case 'progress':
    case 'hello':
      return false
    case 'refetch':
      return key[0] === 'get'
  }
}

/** A run with the event's progress; the same object when the event is not about it. */
export function withProgress<T extends Pick<Run, 'id' | 'live'>>(run: T, event: LiveEvent): T {
  if (run.id !== event.run_id || event.elapsed_s == null || event.bytes == null) return run
  return { ...run, live: { elapsed_s: event.elapsed_s, bytes: event.bytes, flows: event.flows ?? [] } }
}

/** What a campaign does now, with the event's progress in the run and in what was carried. */
export function withProgressNow(now: CampaignNow, event: LiveEvent): CampaignNow {
  const run = now.active.find(({ id }) => id === event.run_id)
  if (!run || event.bytes == null) return now
  const grown = event.bytes - (run.live?.bytes ?? 0)
  return { ...now, used_bytes: now.used_bytes + grown, active: now.active.map((one) => withProgress(one, event)) }
}

/** Bring the cache up to date with one live event. */
export function applyLiveEvent(cache: QueryClient, kind: LiveKind, event: LiveEvent): void {
  if (kind === 'progress') {
    cache.setQueriesData<RunList>(
      { queryKey: ['get', `${API}/campaigns/{campaign_id}/runs`] },
      (old) => old && { ...old, items: old.items.map((run) => withProgress(run, event)) },
    )
    cache.setQueriesData<CampaignNow>(
      { queryKey: ['get', `${API}/campaigns/{campaign_id}/now`] },
      (old) => old && withProgressNow(old, event),
    )
    cache.setQueriesData<Run>({ queryKey: ['get', `${API}/runs/{run_id}`] }, (old) => old && withProgress(old, event))
  }
  void cache.invalidateQueries({ predicate: ({ queryKey }) => isStale(queryKey, kind, event) })
}

const LEAST_APART_MS = 1000

/**
 * Takes live events as they come. Progress is shown at once: it asks the server for nothing. Of what makes answers old, the first
 * is followed at once and what comes within the next second together after it: many links do not make many requests.
 */
export function followEvents(cache: QueryClient): { take: (kind: LiveKind, event: LiveEvent) => void; stop: () => void } {
  const waiting = new Map<string, [LiveKind, LiveEvent]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const follow = () => {
    timer = undefined
    if (waiting.size === 0) return
    const events = [...waiting.values()]
    waiting.clear()
    timer = setTimeout(follow, LEAST_APART_MS)
    void cache.invalidateQueries({ predicate: ({ queryKey }) => events.some(([kind, event]) => isStale(queryKey, kind, event)) })
  }
  const take = (kind: LiveKind, event: LiveEvent) => {
    if (kind === 'progress') return applyLiveEvent(cache, kind, event)
    waiting.set([kind, event.campaign_id, event.run_id].join(' '), [kind, event])
    if (timer === undefined) follow()
  }
  return { take, stop: () => clearTimeout(timer) }
}
