/** Small readers for search parameters: what is not understood is left out, never an error page. */

export function oneOf<T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find((candidate) => candidate === value)
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function texts(value: unknown): string[] | undefined {
  const list = Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
  return list.length > 0 ? list : undefined
}

/** A choice of several, which may be none of them. */
export function choice(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : undefined
}

/** A number that is not negative. */
export function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** "ended_at.desc" as a column and a direction. */
export function sortOf(value: string | undefined): { id: string; desc: boolean }[] {
  const match = /^(\w+)\.(asc|desc)$/.exec(value ?? '')
  return match?.[1] ? [{ id: match[1], desc: match[2] === 'desc' }] : []
}

export function sortText(sorting: readonly { id: string; desc: boolean }[]): string | undefined {
  const first = sorting[0]
  return first ? `${first.id}.${first.desc ? 'desc' : 'asc'}` : undefined
}

/** What of an address changes. A function gets the address as it is then: it may be ahead of what is drawn. */
export type SearchChange<Search> = Search | ((latest: Search) => Search)

/** The address after the change. */
export const changedBy =
  <Search extends object>(change: SearchChange<Search>) =>
  (latest: Search): Search => ({ ...latest, ...(typeof change === 'function' ? change(latest) : change) })
