import { text } from '@/lib/search'

/** Of a campaign's day strip: which value of its runs is shown, and of which phase. */
export interface DaySearch {
  metric?: string | undefined
  phase?: string | undefined
}

export function parseDaySearch(search: Record<string, unknown>): DaySearch {
  return { metric: text(search.metric), phase: text(search.phase) }
}
