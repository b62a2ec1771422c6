import { ActionIcon, Button, Group, MultiSelect, SegmentedControl, Stack, Switch, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Panel } from '@/ui/Panel'
import { ConditionList, StopFields } from './ConditionList'
import { isSplit } from './carrier'
import { listAt, type Path } from './document'
import classes from './drafts.module.css'
import { ExpectFields } from './ExpectFields'
import { NumberField, Reasons, TextField } from './fields'
import { MatrixEditor } from './MatrixEditor'
import { matrixOf } from './matrix'
import { metricChoices } from './metrics'
import { SettingsEditor } from './SettingsEditor'
import { helpText } from './schema'
import { Timetable } from './Timetable'
import { TriggerFields } from './TriggerFields'
import { VaryFields } from './VaryFields'
import { useDraft, useField } from './view'

const GB = 1e9

/** The campaign file as a form. Each field edits its own place of the text. */
export function DraftForm() {
  const { data } = useDraft()
  const hasRelaySettings = isSplit(data)
  return (
    <Stack gap="lg">
      <Panel title="Campaign">
        <Stack gap="sm">
          <TextField path={['name']} label="Name" required />
          <Notes />
          <Links />
        </Stack>
      </Panel>
      <Conditions />
      <Panel title="Settings of every condition" description="A setting of a condition replaces the same one here.">
        <div className={classes.pair}>
          <SettingsEditor path={['defaults', 'sender']} title="Sender settings" />
          <SettingsEditor path={['defaults', 'receiver']} title="Receiver settings" />
          {hasRelaySettings ? <SettingsEditor path={['defaults', 'relay']} title="Relay settings" /> : null}
        </div>
      </Panel>
      <Panel title="Runs">
        <Stack gap="md">
          <StopFields path={['stop']} />
          <Phases />
          <Windows />
        </Stack>
      </Panel>
      <Timetable />
      <TriggerFields />
      <Panel title="Limits and what is tested">
        <Stack gap="md">
          <div className={classes.pair}>
            <NumberField path={['limits', 'attempts']} label="Tries per run" help="A failed run is repeated; 1 to 10" />
            <NumberField
              path={['limits', 'bytes']}
              label="Volume limit"
              unit="GB"
              factor={GB}
              help="The campaign’s data volume"
              placeholder="no limit"
            />
          </div>
          <NumberField path={['weight']} label="Weight" help="Priority when campaigns compete for a link; 1 to 100" />
          <Sampling />
          <Deliveries />
          <BestEffort />
          <PrimaryMetrics />
        </Stack>
      </Panel>
      <ExpectFields />
      {'reproduces' in data ? (
        <Text size="sm" c="dimmed">
          The file also names published figures (reproduces). This form keeps them as they are; change them as YAML.
        </Text>
      ) : null}
    </Stack>
  )
}

function Notes() {
  const { value, shape, error, set } = useField(['notes'])
  return (
    <Textarea
      label="Notes"
      description={helpText(shape)}
      error={error}
      autosize
      minRows={1}
      maxRows={6}
      value={value === undefined ? '' : String(value)}
      onChange={(event) => set(event.currentTarget.value || undefined)}
    />
  )
}

function Links() {
  const { data, known, edit, problems } = useDraft()
  const { shape } = useField(['links'])
  const chosen = listAt(data, ['links']).map(String)
  const names = [...new Set([...known.links.map(({ name }) => name), ...chosen])]
  const error = problems.filter(({ place }) => place === 'links' || place.startsWith('links['))
  return (
    <MultiSelect
      label="Links"
      description={helpText(shape, { range: false })}
      error={error.length > 0 ? error.map(({ message }) => message).join(' ') : undefined}
      data={names}
      value={chosen}
      required
      placeholder={chosen.length > 0 ? undefined : 'Choose a link'}
      nothingFoundMessage="No such link. Create links on the page Links."
      onChange={(next) => edit(['links'], next)}
    />
  )
}

function Conditions() {
  const { data } = useDraft()
  const conditions = listAt(data, ['conditions']) as Record<string, unknown>[]
  const [view, setView] = useState(() => (conditions.length > 4 && (matrixOf(conditions)?.factors.length ?? 0) > 1 ? 'matrix' : 'list'))
  return (
    <Panel
      title="Conditions"
      description="Conditions to compare. Each cycle runs every condition once."
      actions={
        <SegmentedControl
          size="xs"
          aria-label="How conditions are shown"
          data={[
            { value: 'list', label: 'List' },
            { value: 'matrix', label: 'Matrix' },
          ]}
          value={view}
          onChange={setView}
        />
      }
    >
      {view === 'list' ? <ConditionList /> : <MatrixEditor />}
      <VaryFields />
    </Panel>
  )
}

function Phases() {
  return (
    <div>
      <Reasons path={['phases']} />
      <div className={classes.pair}>
        <NumberField path={['phases', 'startup_s']} label="Start-up: the first" unit="s" placeholder="fits the run" />
        <NumberField path={['phases', 'steady_s']} label="Steady state: the last" unit="s" placeholder="fits the run" />
      </div>
    </div>
  )
}

function Windows() {
  const { data, edit, editList } = useDraft()
  const windows = listAt(data, ['windows'])
  const path: Path = ['windows']
  const add = () => editList(path, [...windows, { name: `window_${windows.length + 1}`, from_s: 10, to_s: 20 }])
  const remove = (index: number) => {
    const kept = windows.filter((_, other) => other !== index)
    if (kept.length > 0) editList(path, kept)
    else edit(path, undefined)
  }
  return (
    <fieldset className={classes.settings}>
      <legend>Named windows</legend>
      <Stack gap="sm">
        {windows.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a window is known by its place; its name is being typed
          <Group key={index} align="flex-start" wrap="nowrap" gap="xs">
            <div className={`${classes.triple} ${classes.grow}`}>
              <TextField path={['windows', index, 'name']} label="Name" required />
              <NumberField path={['windows', index, 'from_s']} label="From" unit="s" help="After the start of the run" required />
              <NumberField path={['windows', index, 'to_s']} label="To" unit="s" help="Before the run ends" required />
            </div>
            <ActionIcon variant="subtle" color="gray" aria-label={`Remove window ${index + 1}`} onClick={() => remove(index)}>
              <Text aria-hidden="true">×</Text>
            </ActionIcon>
          </Group>
        ))}
        <div>
          <Button size="compact-xs" variant="light" onClick={add}>
            Add a window
          </Button>
        </div>
      </Stack>
    </fieldset>
  )
}

function Sampling() {
  const { value, error, set } = useField(['sampling'])
  return (
    <Switch
      label="Record every ACK"
      description="Most slow-start detectors need it. Some thousand samples a second instead of 200."
      error={error}
      checked={value === 'per_ack'}
      onChange={(event) => set(event.currentTarget.checked ? 'per_ack' : undefined)}
    />
  )
}

function Deliveries() {
  const { value, error, set } = useField(['deliveries'])
  return (
    <Switch
      label="Keep delivery tables"
      description="When each block left, arrived and was in order. Flows that send messages at a fixed rate always have one."
      error={error}
      checked={value === true}
      onChange={(event) => set(event.currentTarget.checked || undefined)}
    />
  )
}

function BestEffort() {
  const { value, error, set } = useField(['settings'])
  return (
    <Switch
      label="Measure even if a setting cannot be changed"
      description="For example in a plain container: settings that a host cannot change stay as they are and are noted in each run’s record. Otherwise nothing is launched."
      error={error}
      checked={value === 'best_effort'}
      onChange={(event) => set(event.currentTarget.checked ? 'best_effort' : undefined)}
    />
  )
}

function PrimaryMetrics() {
  const { data, edit, problems } = useDraft()
  const known = metricChoices(data)
  const times = [
    { value: 'time_to_steady_s', label: 'Time to steady state' },
    { value: 'time_to_level_s', label: 'Time to common level' },
  ]
  const chosen = listAt(data, ['primary_metrics']).map(String)
  const other = chosen.filter((value) => ![...known, ...times].some((one) => one.value === value))
  const wrong = problems.filter(({ place }) => place.startsWith('primary_metrics'))
  return (
    <MultiSelect
      label="What is tested"
      description="Only these are tested, all others are shown. Choose few, before the first run."
      error={wrong.length > 0 ? wrong.map(({ message }) => message).join(' ') : undefined}
      data={[...known, ...times, ...other.map((value) => ({ value, label: value }))]}
      value={chosen}
      searchable
      placeholder={chosen.length > 0 ? undefined : 'Throughput in start-up and in steady state'}
      onChange={(next) => edit(['primary_metrics'], next.length > 0 ? next : undefined)}
    />
  )
}
