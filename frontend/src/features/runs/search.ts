import { oneOf } from '@/lib/search'

export const RUN_TABS = ['charts', 'settings', 'events', 'traces'] as const

export interface RunSearch {
  tab?: (typeof RUN_TABS)[number] | undefined
}

export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  return { tab: oneOf(search.tab, RUN_TABS) }
}
