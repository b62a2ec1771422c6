import { ActionIcon, Button, Group, MultiSelect, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { DAYS, dayAfter, hoursOf, hoursText, startOf, startText } from './clock'
import { listAt, mappingAt, type Path } from './document'
import classes from './drafts.module.css'
import { Reasons, TextField } from './fields'
import { useDraft, useField } from './view'

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]
const START: Path = ['timetable', 'start_at']
const HOURS: Path = ['timetable', 'opening_hours']
const REPEAT: Path = ['timetable', 'repeat']

/** From when on, at which hours of a link, and how often again. */
export function ClockFields() {
  return (
    <>
      <StartFields />
      <RepeatFields />
      <HoursList />
    </>
  )
}

function StartFields() {
  const { data, known } = useDraft()
  const { value, error, set } = useField(START)
  const chosen = listAt(data, ['links'])
  const zone = known.links.find(({ name }) => chosen.includes(name))?.time_zone ?? 'UTC'
  const start = value === undefined ? null : startOf(value)
  const change = (part: Partial<NonNullable<typeof start>>) => start && set(startText({ ...start, ...part }))
  return (
    <Stack gap="xs">
      <Switch
        label="Start at a set time"
        description="Otherwise runs start at the launch."
        checked={value !== undefined}
        onChange={(event) => set(event.currentTarget.checked ? startText({ day: dayAfter('', 1), clock: '18:00', zone }) : undefined)}
      />
      {start ? (
        <div className={classes.pair}>
          <TextInput
            type="date"
            label="Start date"
            required
            error={error}
            value={start.day}
            onChange={(event) => change({ day: event.currentTarget.value })}
          />
          <TextInput
            type="time"
            label="Start time"
            required
            value={start.clock}
            onChange={(event) => change({ clock: event.currentTarget.value })}
          />
          <Select
            label="Time zone of the start"
            data={ZONES.includes(start.zone) ? ZONES : [start.zone, ...ZONES]}
            searchable
            limit={60}
            allowDeselect={false}
            value={start.zone}
            onChange={(next) => change({ zone: next ?? zone })}
          />
        </div>
      ) : null}
      {value !== undefined && !start ? <TextField path={START} label="Start" /> : null}
    </Stack>
  )
}

function RepeatFields() {
  const { data, edit, editAll } = useDraft()
  const start = startOf(mappingAt(data, ['timetable']).start_at)
  const { value, error } = useField([...REPEAT, 'every'])
  const every = typeof value === 'string' ? value : 'once'
  const until = useField([...REPEAT, 'until'])
  if (!start && every === 'once') return null
  const change = (next: string | null) => {
    if (next === null || next === 'once') edit(REPEAT, undefined)
    else
      editAll([
        [[...REPEAT, 'every'], next],
        [[...REPEAT, 'until'], until.value ?? dayAfter(start?.day ?? '', next === 'day' ? 6 : 28)],
      ])
  }
  return (
    <Stack gap="xs">
      <Reasons path={REPEAT} />
      <div className={classes.pair}>
        <Select
          label="Repeat"
          description="Repeats the timetable at the same time of day"
          data={[
            { value: 'once', label: 'not at all' },
            { value: 'day', label: 'each day' },
            { value: 'week', label: 'each week' },
          ]}
          allowDeselect={false}
          error={error}
          value={every}
          onChange={change}
        />
        {every === 'once' ? null : (
          <TextInput
            type="date"
            label="Until"
            description="Last day on which a repetition may begin"
            required
            error={until.error}
            value={String(until.value ?? '')}
            onChange={(event) => until.set(event.currentTarget.value)}
          />
        )}
      </div>
    </Stack>
  )
}

function HoursList() {
  const { data, edit, editList } = useDraft()
  const hours = listAt(data, HOURS)
  const remove = (index: number) => {
    const kept = hours.filter((_, other) => other !== index)
    if (kept.length > 0) editList(HOURS, kept)
    else edit(HOURS, undefined)
  }
  return (
    <fieldset className={classes.settings}>
      <legend>Opening hours</legend>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          Runs start and end within these hours, in each link’s own time zone. None: at any time.
        </Text>
        <Reasons path={HOURS} />
        {hours.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: hours are known by their place; they are being typed
          <Group key={index} align="flex-start" wrap="nowrap" gap="xs">
            <div className={classes.grow}>
              <HoursFields index={index} />
            </div>
            <ActionIcon variant="subtle" color="gray" aria-label={`Remove hours ${index + 1}`} onClick={() => remove(index)}>
              <Text aria-hidden="true">×</Text>
            </ActionIcon>
          </Group>
        ))}
        <div>
          <Button size="compact-xs" variant="light" onClick={() => editList(HOURS, [...hours, 'weekdays 18:00-06:00'])}>
            Add hours
          </Button>
        </div>
      </Stack>
    </fieldset>
  )
}

function HoursFields({ index }: { index: number }) {
  const path = [...HOURS, index]
  const { value, error, set } = useField(path)
  const hours = hoursOf(value)
  if (!hours) return <TextField path={path} label="Days and hours" required />
  const change = (part: Partial<typeof hours>) => set(hoursText({ ...hours, ...part }))
  return (
    <div className={classes.triple}>
      <MultiSelect label="Open on" data={[...DAYS]} value={[...hours.days]} error={error} onChange={(days) => change({ days })} />
      <TextInput label="From" placeholder="18:00" value={hours.opens} onChange={(event) => change({ opens: event.currentTarget.value })} />
      <TextInput
        label="To"
        description={hours.closes <= hours.opens ? 'of the next day' : undefined}
        placeholder="24:00"
        value={hours.closes}
        onChange={(event) => change({ closes: event.currentTarget.value })}
      />
    </div>
  )
}
