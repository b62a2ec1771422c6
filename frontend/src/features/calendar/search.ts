import { amount, text } from '@/lib/search'

/** So many days can be seen at once. */
export const SPANS = [1, 7, 28] as const

/** Which days are shown: the first as 2026-11-23, in UTC, and how many. Neither: this week. */
export interface CalendarSearch {
  from?: string | undefined
  days?: number | undefined
}

export function parseCalendarSearch(search: Record<string, unknown>): CalendarSearch {
  const from = text(search.from)
  const days = amount(search.days)
  return {
    from: from && /^\d{4}-\d\d-\d\d$/.test(from) && !Number.isNaN(Date.parse(from)) ? from : undefined,
    days: SPANS.find((span) => span === days),
  }
}
