import { ActionIcon, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { carrierOf } from './carrier'
import { mappingAt, type Path } from './document'
import classes from './drafts.module.css'
import { NumberField, Reasons } from './fields'
import { plain } from './SettingsEditor'
import { CarrierChoice, Control, FurtherOfFlow, IntcpOptions } from './Transport'
import { useDraft } from './view'

const MBPS = 1e6

/** One flow: what carries it, from which sender to which receiver, when. */
export function FlowEditor({ path, title, onRemove }: { path: Path; title: string; onRemove: (() => void) | null }) {
  const { data } = useDraft()
  const carrier = carrierOf(mappingAt(data, path))
  const isTcp = carrier === 'tcp' || carrier === 'split'
  return (
    <fieldset className={`${classes.settings} ${classes.flow}`}>
      <legend>
        <Group gap="xs">
          {title}
          <CarrierChoice path={path} title={title} />
          {onRemove ? (
            <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${title}`} onClick={onRemove}>
              <Text aria-hidden="true">×</Text>
            </ActionIcon>
          ) : null}
        </Group>
      </legend>
      <Reasons path={path} />
      <Reasons path={[...path, 'transport']} />
      <div className={classes.pair}>
        {carrier === 'probe' ? <NumberField path={[...path, 'probe', 'every_ms']} label="One probe every" unit="ms" /> : null}
        {isTcp ? <Control path={[...path, 'cc']} label="Congestion control" placeholder="cubic" /> : null}
        {carrier === 'split' ? (
          <Control path={[...path, 'relay_cc']} label="Congestion control of relays" placeholder="that of the sender" />
        ) : null}
        <NumberField path={[...path, 'sender']} label="Sender" />
        <NumberField path={[...path, 'start_s']} label="Start" unit="s" />
        {isTcp ? (
          <NumberField
            path={[...path, 'pacing_rate_bps']}
            label="Fastest rate"
            help="Of the sender"
            unit="Mb/s"
            factor={MBPS}
            placeholder="as the control wants"
          />
        ) : null}
      </div>
      {isTcp ? <Options path={path} /> : null}
      {carrier === 'intcp' ? <IntcpOptions path={[...path, 'options']} /> : null}
      <FurtherOfFlow path={path} title={title} />
    </fieldset>
  )
}

const AS_IT_IS = ''

/** Further options of the control, where an agent reports them; what the file has is shown in any case. */
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
