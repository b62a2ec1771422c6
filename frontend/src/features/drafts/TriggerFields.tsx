import { Select, Stack, TextInput } from '@mantine/core'
import { Panel } from '@/ui/Panel'
import { dayAfter } from './clock'
import { listAt, mappingAt, type Path } from './document'
import classes from './drafts.module.css'
import { NumberField, Reasons, TextField } from './fields'
import { useDraft, useField } from './view'

const TRIGGER: Path = ['trigger']
const WHEN: Path = ['trigger', 'when']

type Kind = 'launch' | 'quantity' | 'slot' | 'call'
const KINDS: { value: Kind; label: string }[] = [
  { value: 'launch', label: 'the launch, by the timetable' },
  { value: 'quantity', label: 'a quantity of a link' },
  { value: 'slot', label: 'the beginning of a satellite’s slot' },
  { value: 'call', label: 'a signed HTTP call' },
]
const FIRST: Readonly<Record<Exclude<Kind, 'launch'>, object>> = {
  quantity: { quantity: 'dish.obstruction_ratio', above: 0.02, for_s: 30 },
  slot: { slot: { every_s: 15, at_s: 12 } },
  call: { call: true },
}

/** Which kind of trigger the file has; what is being written counts as a quantity. */
export function kindOf(data: unknown): Kind {
  const { trigger } = (data ?? {}) as { trigger?: unknown }
  if (trigger === undefined || trigger === null) return 'launch'
  const when = mappingAt(data, WHEN)
  return 'slot' in when ? 'slot' : 'call' in when ? 'call' : 'quantity'
}

/** What starts the runs: the launch, or again and again something that happens. */
export function TriggerFields() {
  const { data, edit } = useDraft()
  const kind = kindOf(data)
  const change = (next: Kind) => {
    if (next === 'launch') edit(TRIGGER, undefined)
    else if (kind === 'launch') edit(TRIGGER, { when: FIRST[next] })
    else edit(WHEN, FIRST[next])
  }
  return (
    <Panel title="Trigger" description="A launched campaign with a trigger waits. Each time the trigger fires, the timetable starts.">
      <Stack gap="md">
        <Select
          label="Runs start with"
          description={kind === 'quantity' ? 'A quantity of the link’s dish, modem or weather' : undefined}
          data={KINDS}
          allowDeselect={false}
          value={kind}
          onChange={(next) => change((next ?? 'launch') as Kind)}
        />
        <Reasons path={TRIGGER} />
        <Reasons path={WHEN} />
        <Reasons path={[...WHEN, 'call']} />
        {kind === 'quantity' ? <QuantityFields /> : null}
        {kind === 'slot' ? (
          <div className={classes.pair}>
            <NumberField path={[...WHEN, 'slot', 'every_s']} label="Length of a slot" unit="s" help="15 s for Starlink" required />
            <NumberField path={[...WHEN, 'slot', 'at_s']} label="The first begins at" unit="s" help="Seconds after a full minute, UTC" />
          </div>
        ) : null}
        {kind === 'launch' ? null : <Limits />}
      </Stack>
    </Panel>
  )
}

function QuantityFields() {
  const { data, editAll } = useDraft()
  const when = mappingAt(data, WHEN)
  const side = 'below' in when ? 'below' : 'above'
  const links = listAt(data, ['links']).map(String)
  const link = useField([...WHEN, 'link'])
  const turn = (next: string) =>
    editAll([
      [[...WHEN, side], undefined],
      [[...WHEN, next], when[side]],
    ])
  return (
    <>
      <div className={classes.pair}>
        <TextField path={[...WHEN, 'quantity']} label="Quantity" required />
        {links.length > 1 ? (
          <Select
            label="Of the link"
            error={link.error}
            data={links}
            value={link.value === undefined ? null : String(link.value)}
            onChange={(next) => link.set(next ?? undefined)}
          />
        ) : null}
        <TextField path={[...WHEN, 'source']} label="Said by the source" placeholder="anybody" />
      </div>
      <div className={classes.pair}>
        <Select
          label="Holds"
          data={[
            { value: 'above', label: 'above' },
            { value: 'below', label: 'below' },
          ]}
          allowDeselect={false}
          value={side}
          onChange={(next) => next && next !== side && turn(next)}
        />
        <NumberField path={[...WHEN, side]} label="Value" help="In the unit of the quantity" isSigned required />
        <NumberField path={[...WHEN, 'for_s']} label="For at least" unit="s" help="0 to 86,400 s" placeholder="0 s" />
      </div>
    </>
  )
}

function Limits() {
  const until = useField([...TRIGGER, 'until'])
  return (
    <div className={classes.pair}>
      <NumberField path={[...TRIGGER, 'pause_s']} label="Least time between firings" unit="s" help="1 to 2,592,000 s" />
      <NumberField path={[...TRIGGER, 'most_per_day']} label="Most firings a day" help="In any 24 hours; 1 to 1,000" />
      <NumberField path={[...TRIGGER, 'most']} label="Most firings in all" help="The campaign ends with the last; 1 to 10,000" />
      <TextInput
        type="date"
        label="Last day"
        description="In UTC; none: until the maximum number of firings"
        min={dayAfter('', 0)}
        error={until.error}
        value={String(until.value ?? '')}
        onChange={(event) => until.set(event.currentTarget.value || undefined)}
      />
    </div>
  )
}
