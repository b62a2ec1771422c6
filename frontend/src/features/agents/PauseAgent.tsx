import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import type { Agent } from '@/api/types'
import { LateDialog } from '@/ui/LateDialog'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { usePauseAgent, useResumeAgent } from './queries'

const UNTIL_RESUMED = 'resumed'
const SPANS = [
  { value: '1', label: 'for an hour' },
  { value: '3', label: 'for three hours' },
  { value: '12', label: 'for twelve hours' },
  { value: '24', label: 'for a day' },
  { value: '168', label: 'for a week' },
  { value: UNTIL_RESUMED, label: 'until somebody resumes it' },
]
const HOUR_MS = 3_600_000

/**
 * Lets an agent rest, or ends such a rest. What its owner set on the host is not touched.
 * One button for both: the focus that comes back from the dialog, or stays after Resume, finds it there.
 */
export function PauseAgent({ agent }: { agent: Agent }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  const resume = useResumeAgent()
  const verb = agent.pause ? 'Resume' : 'Pause'
  const press = () => {
    if (!agent.pause) open()
    else if (!resume.isPending) resume.mutate({ params: { path: { agent_id: agent.id } } })
  }
  return (
    <>
      {resume.error ? <ProblemAlert error={resume.error} /> : null}
      <Button
        size="compact-sm"
        {...(agent.pause ? { variant: 'light' } : { variant: 'subtle', color: 'gray' })}
        aria-label={`${verb} ${agent.name}`}
        onClick={press}
      >
        {verb}
      </Button>
      <LateDialog opened={isOpen} onClose={close} title={`Pause ${agent.name}?`}>
        <PauseForm agent={agent} onDone={close} />
      </LateDialog>
    </>
  )
}

function PauseForm({ agent, onDone }: { agent: Agent; onDone: () => void }) {
  const pause = usePauseAgent()
  const form = useForm({ initialValues: { span: '3', why: '' } })
  const submit = form.onSubmit(({ span, why }) => {
    const until = span === UNTIL_RESUMED ? null : new Date(Date.now() + Number(span) * HOUR_MS).toISOString()
    pause.mutate({ params: { path: { agent_id: agent.id } }, body: { until, why: why.trim() || null } }, { onSuccess: onDone })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm">
          No run starts on it meanwhile. Its runs wait, and are missed once their time has passed. A run under way ends as planned; cancel
          it on its own page.
        </Text>
        <NativeSelect label="How long" data={SPANS} data-autofocus {...form.getInputProps('span')} />
        <TextInput label="Why" description="Shown to other users; may be empty" maxLength={200} {...form.getInputProps('why')} />
        {pause.error ? <ProblemAlert error={pause.error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Not now
          </Button>
          <Button type="submit" loading={pause.isPending}>
            Pause
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
