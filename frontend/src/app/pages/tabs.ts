import type { ComponentType } from 'react'
import { oneOf, type SearchChange } from '@/lib/search'

type Asked = Record<string, unknown>

/** A tab of a page: its name, and what of the address it reads. */
export interface Tab<Search> {
  title: string
  parseSearch: (search: Asked) => Search
}

/** For tabs that read nothing. */
export const nothing = () => ({})

// biome-ignore lint/suspicious/noExplicitAny: each tab has its own search
export type Tabs = Record<string, Tab<any>>

type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void ? All : never

/** What a page of these tabs shows, as its address says it. Absent means the default. Tabs share a parameter of one name. */
export type SearchOf<All extends Tabs> = { tab?: keyof All | undefined } & Together<ReturnType<All[keyof All]['parseSearch']>>

export const parseSearchOf =
  <All extends Tabs>(tabs: All) =>
  (search: Asked): SearchOf<All> =>
    Object.assign(
      { tab: oneOf(search.tab, Object.keys(tabs)) },
      ...Object.values(tabs).map(({ parseSearch }) => parseSearch(search)),
    ) as SearchOf<All>

/** A tab whose script is loaded when it is opened. */
export interface LaterTab<Props> {
  load: () => Promise<ComponentType<Props>>
}

/** What is in a page's tabs: what the page needs at once is a component, the rest comes when its tab is opened. */
export type Contents<All extends Tabs, Subject> = {
  [Key in keyof All]: AnyTab<
    Subject & { search: ReturnType<All[Key]['parseSearch']>; onSearch: (change: SearchChange<ReturnType<All[Key]['parseSearch']>>) => void }
  >
}

type AnyTab<Props> = ComponentType<Props> | LaterTab<Props>
