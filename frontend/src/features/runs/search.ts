import { amount, choice, oneOf } from '@/lib/search'

export const RUN_TABS = ['charts', 'exits', 'limits', 'settings', 'events', 'traces'] as const

/** What a run's page shows, as its address says it. Absent means the default. */
export interface RunSearch {
  tab?: (typeof RUN_TABS)[number] | undefined
  /** Of the exits: the flow, the detectors, and the stretch of time; seconds after the flow's first data byte. */
  flow?: number | undefined
  detectors?: string[] | undefined
  range?: 'all' | undefined
  from_s?: number | undefined
  to_s?: number | undefined
}

export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  return {
    tab: oneOf(search.tab, RUN_TABS),
    flow: amount(search.flow),
    detectors: choice(search.detectors),
    range: oneOf(search.range, ['all']),
    from_s: amount(search.from_s),
    to_s: amount(search.to_s),
  }
}

/** Whether a change is one that Back undoes: another stretch of time. */
export function isZoom(change: Partial<RunSearch>): boolean {
  return 'from_s' in change || 'to_s' in change || 'range' in change
}
