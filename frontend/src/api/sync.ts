import type { QueryClient } from '@tanstack/react-query'
import { API } from './client'
import type { LiveEvent, LiveKind, Run, RunList } from './types'

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
        isCampaign('/campaigns/{campaign_id}/runs') ||
        isCampaign('/campaigns/{campaign_id}/day') ||
        isOf(key, { path: '/campaigns' }) ||
        isOf(key, { path: '/links' })
      )
    case 'campaign':
      return (
        isCampaign() ||
        isOf(key, { path: '/campaigns/choices' }) ||
        isOf(key, { path: '/campaigns' }) ||
        isOf(key, { path: '/reproduction' })
      )
    case 'reanalysis':
      return run_id != null && isOf(key, { run_id })
    case 'report':
      return isCampaign() || isOf(key, { path: '/reproduction' })
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

/** Bring the cache up to date with one live event. */
export function applyLiveEvent(cache: QueryClient, kind: LiveKind, event: LiveEvent): void {
  if (kind === 'progress') {
    cache.setQueriesData<RunList>(
      { queryKey: ['get', `${API}/campaigns/{campaign_id}/runs`] },
      (old) => old && { ...old, items: old.items.map((run) => withProgress(run, event)) },
    )
    cache.setQueriesData<Run>({ queryKey: ['get', `${API}/runs/{run_id}`] }, (old) => old && withProgress(old, event))
  }
  void cache.invalidateQueries({ predicate: ({ queryKey }) => isStale(queryKey, kind, event) })
}
