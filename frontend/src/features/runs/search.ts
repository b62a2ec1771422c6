import { amount, oneOf, sortOf, text, texts } from '@/lib/search'
import { RUN_STATES } from '@/lib/states'

/** Of a campaign's list of runs. */
export interface RunsSearch {
  state?: (typeof RUN_STATES)[number] | undefined
  condition?: string | undefined
  sort?: string | undefined
}

export function parseRunsSearch(search: Record<string, unknown>): RunsSearch {
  const sort = text(search.sort)
  return {
    state: oneOf(search.state, RUN_STATES),
    condition: text(search.condition),
    sort: sortOf(sort).length > 0 ? sort : undefined,
  }
}

/** Of a run's samples: the flow, the panels ("sender.cwnd_segments"), and the stretch of time; seconds after the run's zero. */
export interface RawSearch {
  flow?: number | undefined
  fields?: string[] | undefined
  from_s?: number | undefined
  to_s?: number | undefined
}

export function parseRawSearch(search: Record<string, unknown>): RawSearch {
  return { flow: amount(search.flow), fields: texts(search.fields), from_s: amount(search.from_s), to_s: amount(search.to_s) }
}
