import { Tabs as MantineTabs } from '@mantine/core'
import type { ComponentType } from 'react'
import type { SearchChange } from '@/lib/search'
import { LazyPart } from '@/ui/LazyPart'
import classes from '../shell.module.css'
import type { Contents, LaterTab, SearchOf, Tabs } from './tabs'

interface PageTabsProps<All extends Tabs, Subject> {
  tabs: All
  contents: Contents<All, Subject>
  /** What every tab is about. */
  subject: Subject
  tab: keyof All
  search: SearchOf<All>
  onTab: (tab: keyof All) => void
  onSearch: (change: SearchChange<SearchOf<All>>) => void
}

/** A page's tabs; the one that is open is all that is drawn. */
export function PageTabs<All extends Tabs, Subject extends object>(props: PageTabsProps<All, Subject>) {
  const { tabs, contents, subject, tab, search, onTab, onSearch } = props
  const keys = Object.keys(tabs)
  return (
    <MantineTabs value={String(tab)} onChange={(value) => value && onTab(value)} keepMounted={false}>
      <MantineTabs.List mb="lg" className={classes.onScreen}>
        {keys.map((key) => (
          <MantineTabs.Tab key={key} value={key}>
            {tabs[key]?.title}
          </MantineTabs.Tab>
        ))}
      </MantineTabs.List>
      {keys.map((key) => {
        const content = contents[key] as ComponentType<object> | LaterTab<object>
        return (
          <MantineTabs.Panel key={key} value={key}>
            <TabContent content={content} props={{ ...subject, search, onSearch }} />
          </MantineTabs.Panel>
        )
      })}
    </MantineTabs>
  )
}

function TabContent({ content, props }: { content: ComponentType<object> | LaterTab<object>; props: object }) {
  if ('load' in content) return <LazyPart load={content.load} props={props} />
  const Content = content
  return <Content {...props} />
}
