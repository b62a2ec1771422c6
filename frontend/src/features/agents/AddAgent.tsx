import { Button, List, Skeleton, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Enrolment } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { CopyCommand } from '@/ui/CopyCommand'
import { Dialog } from '@/ui/Dialog'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useEnrol } from './queries'

/** Makes a single-use token and shows the command that joins a host with it. */
export function AddAgent() {
  const [isOpen, { open, close }] = useDisclosure(false)
  const enrol = useEnrol()
  const start = () => {
    open()
    enrol.mutate({ body: { expires_in_minutes: 60 } })
  }
  return (
    <>
      <Button onClick={start}>Add agent</Button>
      <Dialog opened={isOpen} onClose={close} title="Add an agent" size="lg">
        {enrol.error ? <ProblemAlert error={enrol.error} onRetry={start} /> : null}
        {enrol.isPending ? <Skeleton height={120} /> : null}
        {enrol.data ? <Steps enrolment={enrol.data} /> : null}
      </Dialog>
    </>
  )
}

function Steps({ enrolment }: { enrolment: Enrolment }) {
  return (
    <Stack gap="sm">
      <List type="ordered" size="sm" spacing="sm">
        <List.Item>
          Put the program <code>downlink-agent</code> on the host. It is one file without dependencies.
        </List.Item>
        <List.Item>Join, as root so that it may change the host's TCP settings:</List.Item>
      </List>
      <CopyCommand value={enrolment.command} label="The join command" />
      <List type="ordered" start={3} size="sm">
        <List.Item>Start it:</List.Item>
      </List>
      <CopyCommand value="downlink-agent run" label="The run command" />
      <Text size="sm" c="dimmed">
        The command works once, until {formatMoment(enrolment.expires_at)}. The agent appears here as soon as it has joined.
      </Text>
    </Stack>
  )
}
