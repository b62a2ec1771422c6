import { ActionIcon, Select, Stack, Text, TextInput } from '@mantine/core'
import { mappingAt, type Path, placeOf } from './document'
import classes from './drafts.module.css'
import { shapeAt } from './schema'
import { useDraft } from './view'

interface SettingsEditorProps {
  path: Path
  /** "Sender settings": whose they are. */
  title: string
}

/** Settings of hosts: name, value and what is allowed, one line each. */
export function SettingsEditor({ path, title }: SettingsEditorProps) {
  const { data, schema, edit } = useDraft()
  const own = mappingAt(data, path)
  const known = Object.keys(shapeAt(schema, path)?.properties ?? {})
  return (
    <fieldset className={classes.settings}>
      <legend>{title}</legend>
      <Stack gap="xs">
        {Object.keys(own).map((name) => (
          <Setting key={name} path={[...path, name]} owner={title} />
        ))}
        <Select
          size="xs"
          aria-label={`Add to ${title}`}
          placeholder="Add a setting"
          searchable
          data={known.filter((name) => !(name in own))}
          value={null}
          onChange={(name) => name && edit([...path, name], START[name] ?? '')}
        />
      </Stack>
    </fieldset>
  )
}

/** What a new line begins with: what Linux has, so that a change is seen as one. */
const START: Readonly<Record<string, string | number>> = {
  'net.ipv4.tcp_rmem': '4096 131072 6291456',
  'net.ipv4.tcp_wmem': '4096 16384 4194304',
  'net.ipv4.tcp_moderate_rcvbuf': 1,
  'net.ipv4.tcp_no_metrics_save': 1,
  'net.ipv4.tcp_slow_start_after_idle': 0,
  'net.ipv4.tcp_window_scaling': 1,
  'net.ipv4.tcp_sack': 1,
  'net.ipv4.tcp_timestamps': 1,
  'net.ipv4.tcp_ecn': 2,
  'net.core.default_qdisc': 'fq',
  'tcp_cubic.hystart': 1,
  'tcp_cubic.hystart_detect': 3,
  'tcp_cubic.hystart_low_window': 16,
  'tcp_cubic.hystart_ack_delta_us': 2000,
  'tcp_cubic.beta': 717,
  'tcp_cubic.fast_convergence': 1,
  'tcp_cubic.tcp_friendliness': 1,
  'tcp_cubic.initial_ssthresh': 0,
  'route.initcwnd': 10,
  'route.initrwnd': 10,
}

function Setting({ path, owner }: { path: Path; owner: string }) {
  const { data, schema, problems, edit } = useDraft()
  const name = String(path.at(-1))
  const place = placeOf(path)
  const value = mappingAt(data, path.slice(0, -1))[name]
  const error = problems.find((one) => one.place === place || isOfDefault(one.place, path))?.message
  return (
    <TextInput
      size="xs"
      classNames={{ label: classes.settingName, description: classes.settingHelp }}
      label={name}
      description={shapeAt(schema, path)?.description}
      error={error}
      value={value === null || value === undefined ? '' : String(value)}
      onChange={(event) => edit(path, plain(event.currentTarget.value))}
      rightSectionPointerEvents="all"
      rightSection={
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={`Remove ${name} from ${owner}`}
          onClick={() => edit(path, undefined)}
        >
          <Text aria-hidden="true">×</Text>
        </ActionIcon>
      }
    />
  )
}

/** A condition that does not say otherwise has the setting from the defaults: what is said of it belongs there. */
const isOfDefault = (place: string, [root, ...own]: Path) => root === 'defaults' && place.endsWith(`].${placeOf(own)}`)

/** A whole number as one, all else as text. */
export const plain = (text: string): string | number => (/^(0|[1-9]\d{0,14})$/.test(text.trim()) ? Number(text) : text)
