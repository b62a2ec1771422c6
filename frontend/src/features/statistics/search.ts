import { PHASES } from '@/lib/quantities'
import { amount, oneOf, text } from '@/lib/search'

export interface StatisticsSearch {
  link?: string | undefined
  flow?: number | undefined
  phase?: (typeof PHASES)[number] | undefined
  metric?: string | undefined
}

export function parseStatisticsSearch(search: Record<string, unknown>): StatisticsSearch {
  return { link: text(search.link), flow: amount(search.flow), phase: oneOf(search.phase, PHASES), metric: text(search.metric) }
}
