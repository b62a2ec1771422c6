import {
  Autocomplete,
  Button,
  Checkbox,
  Group,
  MultiSelect,
  type MultiSelectProps,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Link } from '@/api/types'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { bodyOf, checkValues, type LinkValues, ORBITS, valuesOf } from './form'
import { useAgentNames, useChangeLink, useCreateLink } from './queries'

/** The browser's list; the server has the last word. */
const TIME_ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function LinkForm({ link, onDone }: { link: Link | null; onDone: () => void }) {
  const agents = useAgentNames()
  const create = useCreateLink()
  const change = useChangeLink()
  const form = useForm<LinkValues>({ initialValues: valuesOf(link), validate: checkValues })
  const names = agents.data ?? []
  const submit = form.onSubmit((values) => {
    const body = bodyOf(values)
    if (link) change.mutate({ params: { path: { link_id: link.id } }, body }, { onSuccess: onDone })
    else create.mutate({ body }, { onSuccess: onDone })
  })
  const error = create.error ?? change.error
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput label="Name" description="Campaigns use it" required {...form.getInputProps('name')} />
          <TextInput label="Operator" description="Optional" {...form.getInputProps('operator')} />
          <Select label="Orbit" data={ORBITS} allowDeselect={false} required {...form.getInputProps('orbit')} />
          <NumberInput
            label="Nominal rate"
            description="For example 144 Mb/s"
            suffix=" Mb/s"
            min={0}
            required
            {...form.getInputProps('rate_mbps')}
          />
          <NumberInput
            label="Rate tolerance"
            description="Runs above it are marked implausible"
            suffix=" %"
            min={0}
            max={1000}
            {...form.getInputProps('rate_tolerance_percent')}
          />
          <NumberInput
            label="Base RTT"
            description="For example 597 ms"
            suffix=" ms"
            min={0}
            required
            {...form.getInputProps('base_rtt_ms')}
          />
          <NumberInput label="Data allowance a month" suffix=" GB" min={0} placeholder="no limit" {...form.getInputProps('allowance_gb')} />
          <NumberInput
            label="Its month begins on day"
            description="1 to 28, at midnight in the link’s time zone"
            min={1}
            max={28}
            allowDecimal={false}
            {...form.getInputProps('reset_day')}
          />
          <Select
            label="Receiver"
            description="The agent behind the terminal"
            data={names}
            placeholder="Choose an agent"
            nothingFoundMessage="No agents yet"
            required
            {...form.getInputProps('receiver')}
          />
          <Agents
            label="Senders"
            description="In order; campaigns number them from 1"
            data={names}
            empty="Choose agents"
            required
            {...form.getInputProps('senders')}
          />
          <Agents
            label="Relays"
            description="On the path, from the senders to the receiver: for split TCP and INTCP"
            data={names}
            {...form.getInputProps('relays')}
          />
          <Agents
            label="Further receivers"
            description="Attached along the path; campaigns number them from 2"
            data={names}
            {...form.getInputProps('further_receivers')}
          />
          <Autocomplete
            label="Time zone"
            description="The terminal’s time zone: its nights are shaded in the day strip"
            placeholder="not given"
            data={TIME_ZONES}
            limit={50}
            {...form.getInputProps('time_zone')}
          />
          <NumberInput
            label="Latitude"
            description="Of the terminal, degrees north. The weather service gets it rounded to about a kilometre"
            placeholder="not given"
            min={-90}
            max={90}
            {...form.getInputProps('latitude')}
          />
          <NumberInput
            label="Longitude"
            description="Degrees east, negative for west"
            placeholder="not given"
            min={-180}
            max={180}
            {...form.getInputProps('longitude')}
          />
        </SimpleGrid>
        <Checkbox label="Emulated" {...form.getInputProps('is_emulated', { type: 'checkbox' })} />
        {form.values.is_emulated ? <TextInput label="Link profile" placeholder="geo-viasat" {...form.getInputProps('profile')} /> : null}
        {error ? <ProblemAlert error={error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Close
          </Button>
          <Button type="submit" loading={create.isPending || change.isPending}>
            {link ? 'Save changes' : 'Add link'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Several agents, in the order in which they are chosen. empty: what the field says while there is none. */
function Agents({ empty = 'none', ...input }: MultiSelectProps & { empty?: string }) {
  return <MultiSelect placeholder={input.value?.length ? undefined : empty} nothingFoundMessage="No agents yet" {...input} />
}
