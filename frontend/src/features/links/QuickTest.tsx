import { Button, type ButtonProps, Group, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link as PageLink, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { problemOf } from '@/api/problem'
import type { Link } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { Allowed } from '@/ui/Allowed'
import { Dialog } from '@/ui/Dialog'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useLinks, useQuickTest } from './queries'
import { mostBytes, QUICK_S } from './quick'

/** Beside what it would find out: over one link, from one of its senders. Nothing where the link is gone. */
export function QuickTestOf({ link, sender }: { link: string; sender: number }) {
  const links = (useLinks().data?.items ?? []).filter(({ name }) => name === link)
  if (links.length === 0) return null
  return (
    <QuickTest links={links} sender={sender} text="Try it now" size="compact-xs" variant="light" aria-label={`Try it now on ${link}`} />
  )
}

/** On the page of campaigns: over a link that is chosen. Nothing where there is none yet. */
export function QuickTestOnAnyLink() {
  const links = useLinks().data?.items ?? []
  return links.length > 0 ? <QuickTest links={links} variant="default" /> : null
}

interface QuickTestProps extends ButtonProps {
  /** Those that can be chosen. */
  links: Link[]
  /** The number of the sender that is chosen at first. */
  sender?: number
  /** What the button says, where that is not its name. */
  text?: string
  'aria-label'?: string
}

/** One download now: the first click says what it does, the second one starts it and opens its run. */
export function QuickTest({ links, sender = 1, text = 'Quick test', ...button }: QuickTestProps) {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <Allowed verb="create_campaign">
      <Button {...button} onClick={open}>
        {text}
      </Button>
      <Dialog opened={isOpen} onClose={close} title="Quick test">
        {isOpen ? <QuickForm links={links} first={sender} onClose={close} /> : null}
      </Dialog>
    </Allowed>
  )
}

function QuickForm({ links, first, onClose }: { links: Link[]; first: number; onClose: () => void }) {
  const router = useRouter()
  const start = useQuickTest()
  const [name, setName] = useState(links[0]?.name)
  const [sender, setSender] = useState(String(first))
  const link = links.find((one) => one.name === name)
  if (!link) return null
  const number = Number(sender) <= link.senders.length ? Number(sender) : 1
  const begin = () =>
    start.mutate(
      { params: { path: { link_id: link.id } }, body: { sender: number } },
      { onSuccess: ({ run_id }) => void router.navigate({ to: '/runs/$runId', params: { runId: run_id }, search: {} }) },
    )
  return (
    <Stack gap="sm">
      {links.length > 1 ? (
        <Select label="Link" data={links.map((one) => one.name)} value={link.name} onChange={(next) => next && setName(next)} />
      ) : null}
      {link.senders.length > 1 ? (
        <Select
          label="Sender"
          data={link.senders.map((one, index) => ({ value: String(index + 1), label: one }))}
          value={String(number)}
          onChange={(next) => next && setSender(next)}
        />
      ) : null}
      <Text size="sm">
        {link.senders[number - 1]} sends to {link.receiver} over <strong>{link.name}</strong> for {QUICK_S} s with Cubic: up to{' '}
        {formatBytes(mostBytes(link))}
        {link.month ? ` of the ${formatBytes(link.month.left_bytes)} that are left this month` : ''}. Other settings stay as they are. It is
        kept in the campaign “Quick tests on {link.name}”.
      </Text>
      {start.error ? <Refused error={start.error} /> : null}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Not now
        </Button>
        <Button onClick={begin} loading={start.isPending} data-autofocus>
          Start
        </Button>
      </Group>
    </Stack>
  )
}

function Refused({ error }: { error: unknown }) {
  const runId = problemOf(error).details?.run_id
  return (
    <>
      <ProblemAlert error={error} />
      {typeof runId === 'string' ? (
        <PageLink to="/runs/$runId" params={{ runId }}>
          To its run
        </PageLink>
      ) : null}
    </>
  )
}
