import { Alert, Button, Checkbox, Group, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { CopyCommand } from '@/ui/CopyCommand'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useAddChannel } from './queries'
import { KINDS, type Kind, TOPICS, type Topic } from './words'

const EMPTY = {
  name: '',
  kind: 'webhook' as Kind,
  target: '',
  topics: Object.keys(TOPICS) as Topic[],
  is_own_only: false,
  failures_in_row: 3,
  gone_after_min: 5,
}

/** hasMail: whether this server sends mail. */
export function NewChannel({ hasMail }: { hasMail: boolean }) {
  const add = useAddChannel()
  const form = useForm({
    initialValues: EMPTY,
    validate: {
      name: (value) => (value.trim() ? null : 'Give the channel a name'),
      target: (value) => (value.trim() ? null : 'Give an address'),
      topics: (value) => (value.length > 0 ? null : 'Choose at least one'),
    },
  })
  const submit = form.onSubmit((body) => add.mutate({ body: { ...body, target: body.target.trim() } }, { onSuccess: () => form.reset() }))
  const kind = KINDS[form.values.kind]
  const kinds = Object.entries(KINDS).map(([value, { label }]) => ({ value, label, disabled: value === 'email' && !hasMail }))
  return (
    <Panel title="New channel">
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Group align="flex-start" gap="md">
            <TextInput label="Name" placeholder="On call" required flex="1 1 160px" {...form.getInputProps('name')} />
            <Select
              label="By"
              flex="1 1 260px"
              allowDeselect={false}
              data={kinds}
              description={hasMail ? undefined : 'This server sends no mail: an admin sets DOWNLINK_SMTP_HOST.'}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              {...form.getInputProps('kind')}
            />
            <TextInput label={kind.target} placeholder={kind.placeholder} required flex="2 1 320px" {...form.getInputProps('target')} />
          </Group>
          <Topics form={form} />
          <Group justify="space-between">
            <Checkbox label="Only my own campaigns and links" {...form.getInputProps('is_own_only', { type: 'checkbox' })} />
            <Button type="submit" loading={add.isPending}>
              Add channel
            </Button>
          </Group>
        </Stack>
      </form>
      {add.error ? <ProblemAlert error={add.error} /> : null}
      {add.data?.secret ? (
        <Alert
          mt="md"
          color="green"
          variant="light"
          styles={{ body: { minWidth: 0 } }}
          title={`Posts to “${add.data.name}” are signed with this secret. Copy it now: it is shown only once.`}
        >
          <CopyCommand value={add.data.secret} label="The secret" />
        </Alert>
      ) : null}
    </Panel>
  )
}

type Form = Pick<UseFormReturnType<typeof EMPTY>, 'values' | 'getInputProps'>

function Topics({ form }: { form: Form }) {
  const { topics } = form.values
  return (
    <Group align="flex-end" gap="md">
      <Checkbox.Group label="Send news when" {...form.getInputProps('topics')}>
        <Group gap="md" mt={6}>
          {Object.entries(TOPICS).map(([value, label]) => (
            <Checkbox key={value} value={value} label={label} />
          ))}
        </Group>
      </Checkbox.Group>
      {topics.includes('failures') ? (
        <NumberInput
          label="Failures in a row"
          w={140}
          min={1}
          max={100}
          clampBehavior="strict"
          {...form.getInputProps('failures_in_row')}
        />
      ) : null}
      {topics.includes('agent_gone') ? (
        <NumberInput
          label="Gone after"
          suffix=" min"
          w={140}
          min={1}
          max={1440}
          clampBehavior="strict"
          {...form.getInputProps('gone_after_min')}
        />
      ) : null}
    </Group>
  )
}
