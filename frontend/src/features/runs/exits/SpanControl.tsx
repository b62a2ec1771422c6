import { Group, NumberInput, SegmentedControl } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import type { RunSearch } from '../search'
import type { Span } from './exits'

interface SpanControlProps {
  span: Span
  hasSlowStart: boolean
  search: RunSearch
  onSearch: (change: Partial<RunSearch>) => void
}

/** Which stretch of time the curves show. */
export function SpanControl({ span, hasSlowStart, search, onSearch }: SpanControlProps) {
  const isOwn = search.from_s !== undefined || search.to_s !== undefined
  const isWhole = search.range === 'all' || !hasSlowStart
  const ask = useDebouncedCallback((name: 'from_s' | 'to_s', value: number | string) => {
    if (typeof value === 'number') onSearch({ [name]: value })
  }, 500)
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
      {(['from_s', 'to_s'] as const).map((name) => (
        <NumberInput
          key={`${name} ${span[name]}`}
          size="xs"
          w={104}
          label={name === 'from_s' ? 'From, s' : 'To, s'}
          min={0}
          step={0.5}
          decimalScale={3}
          defaultValue={span[name]}
          onChange={(value) => ask(name, value)}
          error={name === 'to_s' && (search.to_s ?? span.to_s) <= (search.from_s ?? 0) ? 'Not after the start' : undefined}
        />
      ))}
    </Group>
  )
}
