import { Group, NumberInput, SegmentedControl } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import type { RunExitsSearch } from '../search'
import type { Span } from './exits'

interface SpanControlProps {
  span: Span
  hasSlowStart: boolean
  search: RunExitsSearch
  onSearch: (change: RunExitsSearch) => void
}

/** Which stretch of time the curves show. */
export function SpanControl({ span, hasSlowStart, search, onSearch }: SpanControlProps) {
  const isOwn = search.from_s !== undefined || search.to_s !== undefined
  const isWhole = search.range === 'all' || !hasSlowStart
  return (
    <Group gap="sm" align="flex-end">
      <SegmentedControl
        size="xs"
        aria-label="Stretch of time shown"
        value={isOwn ? 'own' : isWhole ? 'all' : 'slow'}
        onChange={(value) => onSearch({ range: value === 'all' ? 'all' : undefined, from_s: undefined, to_s: undefined })}
        data={[
          ...(hasSlowStart ? [{ value: 'slow', label: 'Slow start' }] : []),
          { value: 'all', label: 'Whole flow' },
          ...(isOwn ? [{ value: 'own', label: 'As chosen' }] : []),
        ]}
      />
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <Second label="From, s" value={span.from_s} isWrong={(value) => value >= span.to_s} onValue={(from_s) => onSearch({ from_s })} />
        <Second label="To, s" value={span.to_s} isWrong={(value) => value <= span.from_s} onValue={(to_s) => onSearch({ to_s })} />
      </Group>
    </Group>
  )
}

const TYPING_MS = 500

interface SecondProps {
  label: string
  value: number
  isWrong: (value: number) => boolean
  onValue: (value: number) => void
}

/** One end of the stretch. What is being typed stays as it is until the field is left. */
function Second({ label, value, isWrong, onValue }: SecondProps) {
  const [draft, setDraft] = useState<number | string | null>(null)
  const ask = useDebouncedCallback(onValue, TYPING_MS)
  const isRefused = typeof draft === 'number' && isWrong(draft)
  return (
    <NumberInput
      size="xs"
      w={96}
      label={label}
      min={0}
      step={0.5}
      decimalScale={3}
      value={draft ?? value}
      error={isRefused}
      title={isRefused ? 'The start must lie before the end' : undefined}
      onChange={(next) => {
        setDraft(next)
        if (typeof next === 'number' && !isWrong(next)) ask(next)
      }}
      onBlur={() => setDraft(null)}
    />
  )
}
