import { Select } from '@mantine/core'

interface ChoiceProps {
  label: string
  width?: number
  value: string
  data: (string | { value: string; label: string })[]
  onChange: (value: string) => void
}

/** One of several, always one. */
export function Choice({ label, width = 170, value, data, onChange }: ChoiceProps) {
  return (
    <Select
      {...{ label, value, data }}
      w={width}
      maw="100%"
      allowDeselect={false}
      onChange={(next) => (next ? onChange(next) : undefined)}
    />
  )
}
