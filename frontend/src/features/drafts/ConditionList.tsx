import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { carrierOf, isSplit } from './carrier'
import { listAt, mappingAt } from './document'
import classes from './drafts.module.css'
import { FlowEditor } from './FlowEditor'
import { NumberField, Reasons, SegmentField, TextField } from './fields'
import type { ConditionData } from './matrix'
import { SettingsEditor } from './SettingsEditor'
import { useDraft } from './view'

const MB = 1e6

/** Conditions one by one; each opens where it is changed. */
export function ConditionList() {
  const { data, editList } = useDraft()
  const [opened, setOpened] = useState<number | null>(null)
  const conditions = listAt(data, ['conditions']) as ConditionData[]
  const replace = (items: ConditionData[], open: number | null) => {
    setOpened(open)
    editList(['conditions'], items)
  }
  const duplicate = (index: number) => {
    const one = conditions[index] ?? {}
    const copy = { ...one, name: freeName(`${String(one.name ?? 'Condition')} (copy)`, conditions) }
    replace([...conditions.slice(0, index + 1), copy, ...conditions.slice(index + 1)], index + 1)
  }
  const move = (index: number, by: number) => {
    const items = [...conditions]
    const [moved] = items.splice(index, 1)
    if (moved) items.splice(index + by, 0, moved)
    replace(items, null)
  }
  return (
    <div>
      <Reasons path={['conditions']} />
      {conditions.map((condition, index) => (
        <details
          // biome-ignore lint/suspicious/noArrayIndexKey: a condition is known by its place; its name is being typed
          key={index}
          className={classes.condition}
          open={opened === index}
          onToggle={(event) => event.currentTarget.open && setOpened(index)}
        >
          <summary>
            <strong>{String(condition?.name ?? `Condition ${index + 1}`)}</strong>{' '}
            <Text span size="sm" c="dimmed">
              {summaryOf(condition)}
            </Text>
          </summary>
          {opened === index ? (
            <Condition index={index}>
              <Group gap="xs">
                <Button size="xs" variant="default" onClick={() => duplicate(index)}>
                  Duplicate
                </Button>
                <Button size="xs" variant="default" disabled={index === 0} onClick={() => move(index, -1)}>
                  Move up
                </Button>
                <Button size="xs" variant="default" disabled={index === conditions.length - 1} onClick={() => move(index, 1)}>
                  Move down
                </Button>
                <Button
                  size="xs"
                  variant="subtle"
                  color="gray"
                  disabled={conditions.length === 1}
                  onClick={() =>
                    replace(
                      conditions.filter((_, other) => other !== index),
                      null,
                    )
                  }
                >
                  Remove
                </Button>
              </Group>
            </Condition>
          ) : null}
        </details>
      ))}
      <Button
        mt="sm"
        size="xs"
        variant="light"
        onClick={() => replace([...conditions, { name: freeName('New condition', conditions) }], conditions.length)}
      >
        Add a condition
      </Button>
    </div>
  )
}

function freeName(wanted: string, conditions: readonly ConditionData[]): string {
  const taken = new Set(conditions.map((one) => one?.name))
  let name = wanted
  for (let number = 2; taken.has(name); number += 1) name = `${wanted} ${number}`
  return name
}

/** "cubic, tcp_cubic.hystart 1": what makes the condition what it is. */
export function summaryOf(condition: ConditionData): string {
  const flows = listAt(condition, ['flows']) as Record<string, unknown>[]
  const carried = flows.map((flow) => carriedText(flow ?? {}))
  const settings = ['sender', 'receiver', 'relay'].flatMap((side) => Object.entries(mappingAt(condition, [side])))
  return [carried.join(' and '), ...settings.map(([name, value]) => `${name} ${String(value)}`)].filter(Boolean).join(', ')
}

function carriedText(flow: Record<string, unknown>): string {
  const carrier = carrierOf(flow)
  if (carrier === 'probe') return 'probes'
  if (carrier === 'intcp') return 'INTCP'
  const cc = String(flow.cc ?? 'cubic')
  return carrier === 'split' ? `${cc} split at relays` : cc
}

function Condition({ index, children }: { index: number; children: React.ReactNode }) {
  const { data, edit, editList } = useDraft()
  const path = ['conditions', index] as const
  const flows = listAt(data, [...path, 'flows'])
  const addFlow = () =>
    editList(
      [...path, 'flows'],
      [...(flows.length > 0 ? flows : [{ cc: 'cubic' }]), { cc: 'cubic', sender: flows.length > 1 ? flows.length + 1 : 2 }],
    )
  const removeFlow = (flow: number) => {
    const kept = flows.filter((_, other) => other !== flow)
    if (kept.length > 0) editList([...path, 'flows'], kept)
    else edit([...path, 'flows'], undefined)
  }
  return (
    <div className={classes.conditionBody}>
      <TextField path={[...path, 'name']} label="Name of the condition" required />
      {flows.length === 0 ? <FlowEditor path={[...path, 'flows', 0]} title="Flow 1" onRemove={null} /> : null}
      {flows.map((_, flow) => (
        <FlowEditor
          // biome-ignore lint/suspicious/noArrayIndexKey: flows are known by their number
          key={flow}
          path={[...path, 'flows', flow]}
          title={`Flow ${flow + 1}`}
          onRemove={flows.length > 1 ? () => removeFlow(flow) : null}
        />
      ))}
      <div>
        <Button size="xs" variant="light" onClick={addFlow}>
          Add a flow beside it
        </Button>
      </div>
      <div className={classes.pair}>
        <SettingsEditor path={[...path, 'sender']} title="Sender settings of this condition" />
        <SettingsEditor path={[...path, 'receiver']} title="Receiver settings of this condition" />
        {isSplit(data, [index]) ? <SettingsEditor path={[...path, 'relay']} title="Relay settings of this condition" /> : null}
      </div>
      <StopFields path={[...path, 'stop']} own />
      {children}
    </div>
  )
}

/** When runs end: after seconds or bytes; a condition may leave it to the campaign. */
export function StopFields({ path, own = false }: { path: readonly (string | number)[]; own?: boolean }) {
  const { data, edit } = useDraft()
  const stop = mappingAt(data, path)
  const kind = 'bytes' in stop ? 'bytes' : 'seconds' in stop ? 'seconds' : own ? 'none' : 'seconds'
  const change = (next: string) => edit(path, next === 'none' ? undefined : next === 'bytes' ? { bytes: 100 * MB } : { seconds: 60 })
  return (
    <div>
      <SegmentField
        mb="xs"
        label={own ? 'When runs of this condition end' : 'When a run ends'}
        data={[
          ...(own ? [{ value: 'none', label: 'As the campaign' }] : []),
          { value: 'seconds', label: 'After seconds' },
          { value: 'bytes', label: 'After bytes' },
        ]}
        value={kind}
        onChange={change}
      />
      <Reasons path={path} />
      {kind === 'seconds' ? <NumberField path={[...path, 'seconds']} label="Length of a run" unit="s" required /> : null}
      {kind === 'bytes' ? (
        <NumberField
          path={[...path, 'bytes']}
          label="Size of each flow’s transfer"
          unit="MB"
          factor={MB}
          help="Bytes that each flow transfers; phases of such runs are not checked"
          required
        />
      ) : null}
    </div>
  )
}
