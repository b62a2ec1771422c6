import { ActionIcon, Autocomplete, Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import type { Path } from './document'
import classes from './drafts.module.css'
import { NumberField, Reasons } from './fields'
import { plain } from './SettingsEditor'
import { helpText } from './schema'
import { mappingAt, useDraft, useField } from './view'

const MBPS = 1e6

/** One flow: what it carries, from which sender, when. */
export function FlowEditor({ path, title, onRemove }: { path: Path; title: string; onRemove: (() => void) | null }) {
  const { data, edit } = useDraft()
  const flow = mappingAt(data, path)
  const isProbe = 'probe' in flow
  const { sender, start_s } = flow
  const change = (kind: string) => {
    const shared = { ...(sender === undefined ? {} : { sender }), ...(start_s === undefined ? {} : { start_s }) }
    edit(path, kind === 'probe' ? { probe: { every_ms: 100 }, ...shared } : { cc: 'cubic', ...shared })
  }
  return (
    <fieldset className={`${classes.settings} ${classes.flow}`}>
      <legend>
        <Group gap="xs">
          {title}
          <SegmentedControl
            size="xs"
            aria-label={`What ${title} carries`}
            data={[
              { value: 'tcp', label: 'TCP data' },
              { value: 'probe', label: 'Probes' },
            ]}
            value={isProbe ? 'probe' : 'tcp'}
            onChange={change}
          />
          {onRemove ? (
            <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${title}`} onClick={onRemove}>
              <Text aria-hidden="true">×</Text>
            </ActionIcon>
          ) : null}
        </Group>
      </legend>
      <Reasons path={path} />
      <div className={classes.pair}>
        {isProbe ? <NumberField path={[...path, 'probe', 'every_ms']} label="One probe every" unit="ms" /> : <Control path={path} />}
        <NumberField path={[...path, 'sender']} label="Sender" />
        <NumberField path={[...path, 'start_s']} label="Start" unit="s" />
        {isProbe ? null : (
          <NumberField
            path={[...path, 'pacing_rate_bps']}
            label="Fastest rate"
            unit="Mb/s"
            factor={MBPS}
            placeholder="as the control wants"
          />
        )}
      </div>
      {isProbe ? null : <Options path={path} />}
    </fieldset>
  )
}

function Control({ path }: { path: Path }) {
  const { known } = useDraft()
  const { value, shape, error, set } = useField([...path, 'cc'])
  return (
    <Autocomplete
      label="Congestion control"
      description={helpText(shape)}
      error={error}
      data={known.controls}
      placeholder="cubic"
      value={value === undefined ? '' : String(value)}
      onChange={(next) => set(next === '' ? undefined : next)}
    />
  )
}

const AS_IT_IS = ''

/** What the control takes besides, where an agent says so; what the file has is shown in any case. */
function Options({ path }: { path: Path }) {
  const { data, known, edit, problems } = useDraft()
  const flow = mappingAt(data, path)
  const cc = String(flow.cc ?? 'cubic')
  const own = mappingAt(data, [...path, 'options'])
  const taken = known.options[cc] ?? {}
  const names = [...new Set([...Object.keys(taken), ...Object.keys(own)])]
  if (names.length === 0) return null
  return (
    <Stack gap="xs">
      <Reasons path={[...path, 'options']} />
      <div className={classes.pair}>
        {names.map((name) => {
          const option = taken[name]
          const at = [...path, 'options', name]
          const set = (value: string | null) => edit(at, value === AS_IT_IS || value === null ? undefined : plain(value))
          const value = own[name] === undefined ? AS_IT_IS : String(own[name])
          const label = `${cc}: ${name}`
          const error = problems.find((one) => one.place.endsWith(`.options.${name}`))?.message
          return option && option.choices.length > 0 ? (
            <Select
              key={name}
              size="xs"
              label={label}
              error={error}
              data={[...new Set([...option.choices, ...(value ? [value] : [])])]}
              placeholder="as it is"
              clearable
              value={value || null}
              onChange={(next) => edit(at, next ?? undefined)}
            />
          ) : (
            <TextInput
              key={name}
              size="xs"
              label={label}
              error={error}
              description={option ? `${option.min} to ${option.max.toLocaleString('en-GB')}` : undefined}
              placeholder="as it is"
              value={value}
              onChange={(event) => set(event.currentTarget.value)}
            />
          )
        })}
      </div>
    </Stack>
  )
}
