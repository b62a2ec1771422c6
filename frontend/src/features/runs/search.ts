import { oneOf, sortOf, text } from '@/lib/search'
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
