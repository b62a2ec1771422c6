import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Run } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useDecideRun, useUndoDecision } from './queries'

/** What the run says and its link cannot give, and what a person decided about it. */
export function PlausibleAlert({ run }: { run: Run }) {
  const { implausible, decision } = run
  if (!implausible?.length && !decision) return null
  return (
    <Alert
      color="orange"
      variant="light"
      title={implausible?.length ? 'Implausible: this link cannot produce these numbers' : 'Decided by a person'}
    >
      <Stack gap="xs">
        {(implausible ?? []).map((sentence) => (
          <Text key={sentence} size="sm">
            {sentence}
          </Text>
        ))}
        {decision ? (
          <Text size="sm">
            {decision.by} {decision.keeps ? 'keeps it' : 'excluded it from statistics over several runs'}, {formatMoment(decision.at)}:{' '}
            {decision.why}
          </Text>
        ) : (
          <Text size="sm">It counts until somebody leaves it out.</Text>
        )}
        <Allowed verb="run_campaign" owner={run.owner_id}>
          {decision ? <Undo run={run} /> : <Decide run={run} />}
        </Allowed>
      </Stack>
    </Alert>
  )
}

function Decide({ run }: { run: Run }) {
  const [why, setWhy] = useState('')
  const { mutate, isPending, error } = useDecideRun()
  const decide = (keeps: boolean) => mutate({ params: { path: { run_id: run.id } }, body: { keeps, why: why.trim() } })
  return (
    <>
      <Group align="end" gap="sm">
        <TextInput label="Why" w={360} maxLength={500} value={why} onChange={(event) => setWhy(event.currentTarget.value)} />
        <Button variant="default" disabled={!why.trim()} loading={isPending} onClick={() => decide(false)}>
          Leave out
        </Button>
        <Button variant="default" disabled={!why.trim()} loading={isPending} onClick={() => decide(true)}>
          Keep
        </Button>
      </Group>
      {error ? <ProblemAlert error={error} /> : null}
    </>
  )
}

function Undo({ run }: { run: Run }) {
  const { mutate, isPending, error } = useUndoDecision()
  return (
    <>
      <Group>
        <Button variant="default" size="xs" loading={isPending} onClick={() => mutate({ params: { path: { run_id: run.id } } })}>
          Take the decision back
        </Button>
      </Group>
      {error ? <ProblemAlert error={error} /> : null}
    </>
  )
}
