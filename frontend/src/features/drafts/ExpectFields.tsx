import { ActionIcon, Button, Group, Select, Stack, Text } from '@mantine/core'
import { LINKED, METRICS } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { listAt, type Path } from './document'
import classes from './drafts.module.css'
import { NumberField, Reasons } from './fields'
import { phasesOf } from './metrics'
import { helpText } from './schema'
import { useDraft, useField } from './view'

const EXPECT: Path = ['expect']
const MEASURED = [...METRICS, ...LINKED]
const FIRST = { metric: 'overall.goodput_bps', above: 1_000_000 }

/** Ranges in which runs' numbers should lie. */
export function ExpectFields() {
  const { data, edit, editList } = useDraft()
  const ranges = listAt(data, EXPECT)
  const remove = (index: number) => {
    const kept = ranges.filter((_, other) => other !== index)
    if (kept.length > 0) editList(EXPECT, kept)
    else edit(EXPECT, undefined)
  }
  return (
    <Panel title="What is expected" description="A run with a value outside is marked and reported. It still counts.">
      <Stack gap="md">
        <Reasons path={EXPECT} />
        {ranges.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a range is known by its place; its metric is being chosen
          <Range key={index} index={index} onRemove={() => remove(index)} />
        ))}
        <div>
          <Button size="compact-xs" variant="light" onClick={() => editList(EXPECT, [...ranges, FIRST])}>
            Add a range
          </Button>
        </div>
      </Stack>
    </Panel>
  )
}

function Range({ index, onRemove }: { index: number; onRemove: () => void }) {
  const { data } = useDraft()
  const path = [...EXPECT, index]
  const title = `Range ${index + 1}`
  const metric = useField([...path, 'metric'])
  const [phase = '', name = ''] = String(metric.value ?? '').split('.')
  const measured = MEASURED.find((one) => one.name === name)
  const unit = measured?.unit.split(' of ')[0]
  const bound = { ...(unit ? { unit } : {}), factor: measured ? 1 / measured.factor : 1 }
  const conditions = (listAt(data, ['conditions']) as { name?: unknown }[]).map((one) => String(one?.name ?? ''))
  return (
    <fieldset className={`${classes.settings} ${classes.flow}`}>
      <legend>
        <Group gap="xs">
          {title}
          <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${title.toLowerCase()}`} onClick={onRemove}>
            <Text aria-hidden="true">×</Text>
          </ActionIcon>
        </Group>
      </legend>
      <Reasons path={path} />
      <div className={classes.pair}>
        <Choice
          label="Metric"
          choices={MEASURED.map((one) => ({ value: one.name, label: one.title }))}
          error={metric.error}
          value={name}
          onChange={(next) => metric.set(`${phase}.${next}`)}
        />
        <Choice label="In the phase" choices={phasesOf(data)} value={phase} onChange={(next) => metric.set(`${next}.${name}`)} />
        <NumberField path={[...path, 'above']} label="Above" help="The value itself lies outside" placeholder="no bound" {...bound} />
        <NumberField path={[...path, 'below']} label="Below" help="The value itself lies outside" placeholder="no bound" {...bound} />
      </div>
      <div className={classes.pair}>
        <NameChoice path={[...path, 'condition']} label="Of the condition" names={conditions} placeholder="every condition" />
        <NameChoice path={[...path, 'link']} label="On the link" names={listAt(data, ['links']).map(String)} placeholder="every link" />
        <NumberField path={[...path, 'flow']} label="Flow" placeholder="each that has it" />
      </div>
    </fieldset>
  )
}

interface NameChoiceProps {
  path: Path
  label: string
  names: readonly string[]
  placeholder: string
}

/** One of these names, or none for all. */
function NameChoice({ path, label, names, placeholder }: NameChoiceProps) {
  const { value, shape, error, set } = useField(path)
  const choices = [...new Set(names)].filter(Boolean).map((name) => ({ value: name, label: name }))
  return (
    <Choice
      {...{ label, choices, error, placeholder }}
      help={helpText(shape)}
      value={value === undefined ? '' : String(value)}
      onChange={(next) => set(next || undefined)}
    />
  )
}

interface ChoiceProps {
  label: string
  choices: readonly { value: string; label: string }[]
  value: string
  onChange: (value: string) => void
  error?: string | undefined
  help?: string
  /** Where there may be none. */
  placeholder?: string
}

/** One of these; what the file has besides is shown too. */
function Choice({ label, choices, value, onChange, error, help, placeholder }: ChoiceProps) {
  const isStrange = value !== '' && !choices.some((one) => one.value === value)
  const mayBeNone = placeholder !== undefined
  return (
    <Select
      label={label}
      description={help}
      error={error}
      data={isStrange ? [...choices, { value, label: value }] : [...choices]}
      searchable
      required={!mayBeNone}
      allowDeselect={mayBeNone}
      clearable={mayBeNone}
      {...(mayBeNone ? { placeholder } : {})}
      value={value || null}
      onChange={(next) => onChange(next ?? '')}
    />
  )
}
