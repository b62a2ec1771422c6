import { Tabs as MantineTabs } from '@mantine/core'
import { type ComponentType, Suspense } from 'react'
import { Loading } from '@/ui/QueryPanel'
import type { Contents, SearchOf, Tabs } from './tabs'

interface PageTabsProps<All extends Tabs, Subject> {
  tabs: All
  contents: Contents<All, Subject>
  /** What every tab is about. */
  subject: Subject
  tab: keyof All
  search: SearchOf<All>
  onTab: (tab: keyof All) => void
  onSearch: (change: SearchOf<All>) => void
}

/** A page's tabs; the one that is open is all that is drawn. */
export function PageTabs<All extends Tabs, Subject extends object>(props: PageTabsProps<All, Subject>) {
  const { tabs, contents, subject, tab, search, onTab, onSearch } = props
  const keys = Object.keys(tabs)
  return (
    <MantineTabs value={String(tab)} onChange={(value) => value && onTab(value)} keepMounted={false}>
      <MantineTabs.List mb="lg">
        {keys.map((key) => (
          <MantineTabs.Tab key={key} value={key}>
            {tabs[key]?.title}
          </MantineTabs.Tab>
        ))}
      </MantineTabs.List>
      {keys.map((key) => {
        const Content = contents[key] as ComponentType<object>
        return (
          <MantineTabs.Panel key={key} value={key}>
            <Suspense fallback={<Loading rows={8} />}>
              <Content {...subject} {...{ search, onSearch }} />
            </Suspense>
          </MantineTabs.Panel>
        )
      })}
    </MantineTabs>
  )
}
