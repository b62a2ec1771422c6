import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useOffered } from './queries'
import { MAX_SIDES, offersOf } from './sides'

/** Typing asks the server when it has stopped for so long. */
const PAUSE_MS = 300

/** A condition of any campaign, found by what people know of it; chosen by pointer, or by arrows and Enter. */
export function SidePicker({ chosen, onAdd }: { chosen: readonly string[]; onAdd: (side: string) => void }) {
  const [typed, setTyped] = useState('')
  const [words] = useDebouncedValue(typed.trim(), PAUSE_MS)
  const offered = useOffered(words)
  const offers = useMemo(() => offersOf(offered.data?.items ?? [], typed, chosen), [offered.data, typed, chosen])
  const isFull = chosen.length >= MAX_SIDES
  return (
    <Select
      label="Add a condition"
      description="Type words from a campaign's name, notes or tags, a link or a condition."
      placeholder={isFull ? `At most ${MAX_SIDES}: remove one first` : 'Search campaigns and conditions'}
      disabled={isFull}
      searchable
      clearable={false}
      maw={560}
      maxDropdownHeight={360}
      data={offers}
      value={null}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage={offered.isPending ? 'Searching …' : 'No condition with complete runs matches these words'}
      onChange={(side) => {
        if (!side) return
        onAdd(side)
        setTyped('')
      }}
    />
  )
}
