import type { QueryClient } from '@tanstack/react-query'
import { API } from './client'
import type { LiveKind } from './live'
import type { LiveEvent, Run, RunList } from './types'

type Key = readonly unknown[]

/** Which queries an event makes old. Each is [path, parameters or nothing]. */
export function staleKeys(kind: LiveKind, event: LiveEvent): Key[] {
  const campaign = event.campaign_id ? { params: { path: { campaign_id: event.campaign_id } } } : undefined
  const run = event.run_id ? { params: { path: { run_id: event.run_id } } } : undefined
  const list: Key = ['get', `${API}/campaigns`]
  const one: Key = ['get', `${API}/campaigns/{campaign_id}`, campaign]
  const runs: Key = ['get', `${API}/campaigns/{campaign_id}/runs`, campaign]
  switch (kind) {
    case 'run':
      return [
        list,
        one,
        runs,
        ['get', `${API}/runs/{run_id}`, run],
        ['get', `${API}/runs/{run_id}/series`, run],
        ['get', `${API}/runs/{run_id}/exits`, run],
        ['get', `${API}/links`],
      ]
    case 'campaign':
      return [list, one, runs]
    case 'report':
      return [one, ['get', `${API}/campaigns/{campaign_id}/report`, campaign], ['get', `${API}/campaigns/{campaign_id}/exits`, campaign]]
    case 'sweep':
      return [['get', `${API}/campaigns/{campaign_id}/sweeps`, campaign]]
    case 'agent':
      return [['get', `${API}/agents`]]
    case 'service':
      return [['get', `${API}/service`]]
    case 'progress':
      return []
    case 'refetch':
      return [['get']]
  }
}

/** A run with the event's progress; the same object when the event is not about it. */
export function withProgress<T extends Pick<Run, 'id' | 'live'>>(run: T, event: LiveEvent): T {
  if (run.id !== event.run_id || event.elapsed_s == null || event.bytes == null) return run
  return { ...run, live: { elapsed_s: event.elapsed_s, bytes: event.bytes } }
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
  for (const queryKey of staleKeys(kind, event)) void cache.invalidateQueries({ queryKey })
}
