import { Button, MultiSelect, Select, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import classes from './campaigns.module.css'
import { useCampaignChoices } from './queries'
import { CAMPAIGN_SORTS, CAMPAIGN_STATES, type CampaignsSearch, DEFAULT_SORT, isFiltered } from './search'

/** Typing asks the server when it has stopped for so long. */
const PAUSE_MS = 300

interface CampaignFiltersProps {
  search: CampaignsSearch
  onSearch: (change: CampaignsSearch) => void
}

const counted = (values: Record<string, number> = {}) =>
  Object.entries(values).map(([value, count]) => ({ value, label: `${value} (${count})` }))

/** What is given now is a choice too, though no campaign has it any more. */
const withChosen = (values: Record<string, number> = {}, chosen: readonly string[] = []) => ({
  ...Object.fromEntries(chosen.map((value) => [value, 0])),
  ...values,
})

export function CampaignFilters({ search, onSearch }: CampaignFiltersProps) {
  const { data } = useCampaignChoices()
  const states = CAMPAIGN_STATES.filter((state) => data?.states[state] || state === search.state)
  return (
    <search className={classes.filters} aria-label="Campaigns">
      <Words key={search.q ?? ''} words={search.q ?? ''} onWords={(q) => onSearch({ q: q || undefined })} />
      <Select
        size="xs"
        clearable
        aria-label="State"
        placeholder="All states"
        data={states.map((state) => ({ value: state, label: `${state} (${data?.states[state] ?? 0})` }))}
        value={search.state ?? null}
        onChange={(state) => onSearch({ state: state ?? undefined })}
      />
      <MultiSelect
        size="xs"
        clearable
        searchable
        aria-label="Tags"
        placeholder={search.tag ? '' : 'All tags'}
        nothingFoundMessage="No such tag"
        data={counted(withChosen(data?.tags, search.tag))}
        value={search.tag ?? []}
        onChange={(tag) => onSearch({ tag: tag.length > 0 ? tag : undefined })}
      />
      <Select
        size="xs"
        clearable
        searchable
        aria-label="Link"
        placeholder="All links"
        data={counted(withChosen(data?.links, search.link ? [search.link] : []))}
        value={search.link ?? null}
        onChange={(link) => onSearch({ link: link ?? undefined })}
      />
      <Select
        size="xs"
        aria-label="Order"
        allowDeselect={false}
        data={Object.entries(CAMPAIGN_SORTS).map(([value, label]) => ({ value, label }))}
        value={search.sort ?? DEFAULT_SORT}
        onChange={(sort) => onSearch({ sort: sort === DEFAULT_SORT ? undefined : (sort as CampaignsSearch['sort']) })}
      />
      {isFiltered(search) ? (
        <Button size="xs" variant="subtle" onClick={() => onSearch({ q: undefined, state: undefined, tag: undefined, link: undefined })}>
          Show all
        </Button>
      ) : null}
    </search>
  )
}

function Words({ words, onWords }: { words: string; onWords: (words: string) => void }) {
  const [typed, setTyped] = useState(words)
  useEffect(() => {
    if (typed.trim() === words) return
    const timer = setTimeout(() => onWords(typed.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, words, onWords])
  return (
    <TextInput
      size="xs"
      type="search"
      maxLength={100}
      aria-label="Search campaigns"
      placeholder="Search names, notes, tags"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  )
}
