import { Autocomplete, SegmentedControl, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CARRIERS, type Carrier, carriedBy, carrierOf } from './carrier'
import { listAt, mappingAt, type Path } from './document'
import classes from './drafts.module.css'
import { NumberField, Reasons } from './fields'
import { INTCP_OPTIONS, type IntcpOption } from './intcp'
import { plain } from './SettingsEditor'
import { helpText } from './schema'
import { useDraft, useField } from './view'

/** Which transport carries the flow; those over relays where a link has some, or where the file has them. */
export function CarrierChoice({ path, title }: { path: Path; title: string }) {
  const { data, known, edit } = useDraft()
  const flow = mappingAt(data, path)
  const carrier = carrierOf(flow)
  const links = listAt(data, ['links'])
  const hasRelays = known.links.some(({ name, relays }) => links.includes(name) && relays.length > 0)
  return (
    <SegmentedControl
      size="xs"
      aria-label={`What ${title} carries`}
      data={CARRIERS.filter(({ value, needsRelays }) => !needsRelays || hasRelays || value === carrier)}
      value={carrier}
      onChange={(next) => edit(path, carriedBy(next as Carrier, flow))}
    />
  )
}

interface ControlProps {
  path: Path
  label: string
  placeholder: string
}

/** A congestion control, by its name: of the sender or of the relays. */
export function Control({ path, label, placeholder }: ControlProps) {
  const { known } = useDraft()
  const { value, shape, error, set } = useField(path)
  const help = helpText(shape)
  return (
    <Autocomplete
      label={label}
      description={help === label ? undefined : help}
      error={error}
      data={known.controls}
      placeholder={placeholder}
      value={value === undefined ? '' : String(value)}
      onChange={(next) => set(next === '' ? undefined : next)}
    />
  )
}

/** Options of INTCP; what the file has besides is shown too. */
export function IntcpOptions({ path }: { path: Path }) {
  const { data } = useDraft()
  const own = Object.keys(mappingAt(data, path))
  const other = own.filter((name) => !INTCP_OPTIONS.some((option) => option.name === name))
  return (
    <fieldset className={classes.settings}>
      <legend>Options of INTCP</legend>
      <Reasons path={path} />
      <div className={classes.pair}>
        {INTCP_OPTIONS.map((option) => (
          <OneOption key={option.name} path={[...path, option.name]} option={option} />
        ))}
        {other.map((name) => (
          <OtherOption key={name} path={[...path, name]} name={name} />
        ))}
      </div>
    </fieldset>
  )
}

function OneOption({ path, option: { label, help, unit, factor, choices, initial } }: { path: Path; option: IntcpOption }) {
  const { value, error, set } = useField(path)
  if (!choices)
    return (
      <NumberField
        path={path}
        label={label}
        help={help}
        placeholder={initial}
        {...(unit ? { unit } : {})}
        {...(factor ? { factor } : {})}
      />
    )
  return (
    <Select
      label={label}
      description={help}
      error={error}
      data={[...choices]}
      placeholder={choices.find((one) => one.value === initial)?.label ?? initial}
      clearable
      value={value === undefined ? null : String(value)}
      onChange={(next) => set(next ?? undefined)}
    />
  )
}

function OtherOption({ path, name }: { path: Path; name: string }) {
  const { value, error, set } = useField(path)
  return (
    <TextInput
      label={name}
      error={error}
      value={value === undefined ? '' : String(value)}
      onChange={(event) => set(event.currentTarget.value === '' ? undefined : plain(event.currentTarget.value))}
    />
  )
}

const FURTHER = ['offer', 'receiver', 'content']
const FIRST_OFFER = { message_bytes: 16, every_ms: 5 }

/** What few flows have: another receiver than the first, a content that several ask for, messages at a fixed rate. */
export function FurtherOfFlow({ path, title }: { path: Path; title: string }) {
  const { data } = useDraft()
  const flow = mappingAt(data, path)
  const carrier = carrierOf(flow)
  const [isOpen, setOpen] = useState(() => FURTHER.some((key) => key in flow))
  return (
    <details className={classes.further} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={`Receiver and messages of ${title}`}>
        {carrier === 'probe' ? 'Receiver' : carrier === 'intcp' ? 'Receiver, content and messages' : 'Receiver and messages'}
      </summary>
      {isOpen ? (
        <Stack gap="sm" pt="xs">
          <div className={classes.pair}>
            <NumberField path={[...path, 'receiver']} label="Receiver" />
            {carrier === 'intcp' || 'content' in flow ? (
              <NumberField path={[...path, 'content']} label="Content" placeholder="its own" />
            ) : null}
          </div>
          {carrier === 'probe' && !('offer' in flow) ? null : <Offer path={[...path, 'offer']} />}
        </Stack>
      ) : null}
    </details>
  )
}

function Offer({ path }: { path: Path }) {
  const { value, set } = useField(path)
  return (
    <>
      <Switch
        label="Messages at a fixed rate"
        description="Instead of as fast as possible"
        checked={value !== undefined}
        onChange={(event) => set(event.currentTarget.checked ? FIRST_OFFER : undefined)}
      />
      <Reasons path={path} />
      {value === undefined ? null : (
        <div className={classes.pair}>
          <NumberField path={[...path, 'message_bytes']} label="Size of a message" unit="B" required />
          <NumberField path={[...path, 'every_ms']} label="One message every" unit="ms" required />
        </div>
      )}
    </>
  )
}
