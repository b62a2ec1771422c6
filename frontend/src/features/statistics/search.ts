import { amount, text } from '@/lib/search'

export interface StatisticsSearch {
  link?: string | undefined
  flow?: number | undefined
  phase?: string | undefined
  metric?: string | undefined
  /** The condition that others are compared with; without it the campaign's first. */
  baseline?: string | undefined
}

export function parseStatisticsSearch(search: Record<string, unknown>): StatisticsSearch {
  return {
    link: text(search.link),
    flow: amount(search.flow),
    phase: text(search.phase),
    metric: text(search.metric),
    baseline: text(search.baseline),
  }
}
