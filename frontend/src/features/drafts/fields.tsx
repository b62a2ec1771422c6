import { NumberInput, SegmentedControl, type SegmentedControlProps, Text, TextInput } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { type Path, placeOf } from './document'
import { defaultText, helpText, rangeText } from './schema'
import { useDraft, useField } from './view'

interface FieldProps {
  path: Path
  label: string
  /** Instead of what the schema says. */
  help?: string
  placeholder?: string
  required?: boolean
}

export function TextField({ path, label, help, ...input }: FieldProps) {
  const { value, shape, error, set } = useField(path)
  return (
    <TextInput
      {...input}
      label={label}
      description={help ?? helpText(shape)}
      error={error}
      value={value === undefined ? '' : String(value)}
      onChange={(event) => set(event.currentTarget.value === '' && !input.required ? undefined : event.currentTarget.value)}
    />
  )
}

interface NumberFieldProps extends FieldProps {
  unit?: string
  /** The file's unit per the unit that is shown: 1e6 for MB. */
  factor?: number
  /** It may be below zero. */
  isSigned?: boolean
}

/** Without what binary fractions add. */
const exact = (value: number) => Number(value.toPrecision(12))

/** Of bytes and bits the file has whole numbers. */
const inFile = (shown: number, factor: number) => (factor > 1 ? Math.round(shown * factor) : exact(shown * factor))

/** A number with its unit; an empty field takes the key away. */
export function NumberField({ path, label, help, unit, factor = 1, isSigned = false, placeholder, required }: NumberFieldProps) {
  const { value, shape, error, set } = useField(path)
  const [typed, setTyped] = useState<string | number>('')
  const shown = typeof value === 'number' ? exact(value / factor) : ''
  const isTyped = typed !== '' && Math.round(Number(typed) * factor * 1e6) === Math.round(Number(value) * 1e6)
  const change = (next: string | number) => {
    setTyped(next)
    if (next === '') set(undefined)
    else if (Number.isFinite(Number(next))) set(inFile(Number(next), factor))
  }
  const suffix = unit ? ` ${unit}` : ''
  const description = help ?? helpText(shape, { range: factor === 1 })
  return (
    <NumberInput
      label={label}
      description={description}
      error={error}
      suffix={suffix}
      required={required ?? false}
      thousandSeparator=","
      placeholder={placeholder ?? (defaultText(shape) ? `${defaultText(shape)}${suffix}` : '')}
      title={rangeText(shape ?? {})}
      value={isTyped ? typed : shown}
      onChange={change}
      {...(isSigned ? {} : { min: 0 })}
    />
  )
}

/** One of two or three, side by side, under a name that is seen. */
export function SegmentField({ label, ...control }: SegmentedControlProps & { label: string }) {
  const id = useId()
  return (
    <div>
      <Text id={id} size="sm" fw={500} mb={2}>
        {label}
      </Text>
      <SegmentedControl size="xs" aria-labelledby={id} {...control} />
    </div>
  )
}

/** What is wrong with a place that has no field of its own. */
export function Reasons({ path, children }: { path: Path; children?: ReactNode }) {
  const { problems } = useDraft()
  const place = placeOf(path)
  const messages = problems.filter((one) => one.place === place).map(({ message }) => message)
  if (messages.length === 0) return children ?? null
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      {messages.join(' ')}
    </Text>
  )
}
