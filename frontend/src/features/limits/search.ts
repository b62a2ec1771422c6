import { text } from '@/lib/search'

export interface LimitsSearch {
  link?: string | undefined
}

export function parseLimitsSearch(search: Record<string, unknown>): LimitsSearch {
  return { link: text(search.link) }
}
