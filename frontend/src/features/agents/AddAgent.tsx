import { Alert, Button, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import type { Enrolment } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { CopyCommand } from '@/ui/CopyCommand'
import { Dialog } from '@/ui/Dialog'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { Programs } from './Programs'
import { useEnrol, useUnit } from './queries'
import { isLoopback } from './status'

/** The agents' rule for names, as the API checks it. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

/** Asks for a name, then shows what to type on the host. */
export function AddAgent() {
  const [isOpen, { open, close }] = useDisclosure(false)
  const enrol = useEnrol()
  const start = () => {
    enrol.reset()
    open()
  }
  return (
    <>
      <Allowed verb="manage_agents" instead="Admins add agents">
        <Button onClick={start}>Add agent</Button>
      </Allowed>
      <Dialog opened={isOpen} onClose={close} title="Add an agent" size="xl">
        {enrol.data ? <Steps enrolment={enrol.data} /> : <NameForm enrol={enrol} />}
      </Dialog>
    </>
  )
}

function NameForm({ enrol }: { enrol: ReturnType<typeof useEnrol> }) {
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (value) => (NAME.test(value) ? null : 'Letters, digits, . _ and -; starts with a letter or digit') },
  })
  return (
    <form onSubmit={form.onSubmit(({ name }) => enrol.mutate({ body: { name, expires_in_minutes: 60 } }))} noValidate>
      <Stack gap="sm">
        <TextInput
          label="Name"
          description="Name of the agent in links and campaigns"
          placeholder="viasat-client"
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        {enrol.error ? <ProblemAlert error={enrol.error} /> : null}
        <Button type="submit" loading={enrol.isPending}>
          Show what to type
        </Button>
      </Stack>
    </form>
  )
}

function Steps({ enrolment }: { enrolment: Enrolment }) {
  return (
    <Stack gap="sm">
      {isLoopback(enrolment.command) ? <OnlyHere /> : null}
      <Step title="1. Fetch the program" value={enrolment.install_commands} label="The install commands" />
      <Text size="sm" c="dimmed">
        Or download it here:
      </Text>
      <Programs />
      <Step title="2. Join, as root" value={enrolment.command} label="The join command" />
      <Step title="3. Keep it running" value={enrolment.service_commands} label="The service commands" />
      <Text size="sm">
        This starts the agent under systemd. Without systemd, type <code>downlink-agent run</code> as root.
      </Text>
      <Unit />
      <Text size="sm" c="dimmed">
        The join command works once, until {formatMoment(enrolment.expires_at)}. The agent appears on this page as soon as it has joined.
      </Text>
    </Stack>
  )
}

function OnlyHere() {
  return (
    <Alert color="yellow" variant="light" title="These commands work on this machine only">
      The server’s address in them is a loopback address, which no other host reaches. To add agents on other hosts, set{' '}
      <code>DOWNLINK_HOST=0.0.0.0</code> and <code>DOWNLINK_BASE_URL=http://ADDRESS:PORT</code>, where ADDRESS is what the hosts call this
      machine, and start the server again.
    </Alert>
  )
}

function Unit() {
  const unit = useUnit()
  return (
    <details>
      <Text component="summary" size="sm">
        The unit, as it is fetched
      </Text>
      <QueryPanel query={unit}>{(text) => <CopyCommand value={text} label="The systemd unit" />}</QueryPanel>
    </details>
  )
}

function Step({ title, value, label }: { title: string; value: string; label: string }) {
  return (
    <>
      <Title order={3} size="h5">
        {title}
      </Title>
      <CopyCommand value={value} label={label} />
    </>
  )
}
