import { Button, Group, Table, Text } from '@mantine/core'
import { useState } from 'react'
import type { Channel } from '@/api/types'
import { formatRelative } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { ScrollTable } from '@/ui/ScrollTable'
import { StateBadge } from '@/ui/StateBadge'
import { useNow } from '@/ui/useNow'
import { useChangeChannel, useRemoveChannel, useTestChannel } from './queries'
import { SentDialog } from './SentDialog'
import { about, STATES } from './words'

/** Sentences take several lines, so that the buttons stay in sight. */
const WRAPPED = { whiteSpace: 'normal', minWidth: 160, maxWidth: 290 } as const

export function ChannelTable({ channels }: { channels: Channel[] }) {
  const [shown, setShown] = useState<Channel | null>(null)
  return (
    <>
      <ScrollTable label="Channels" heads={['Name', 'To', 'About', 'Last', '']}>
        {channels.map((channel) => (
          <Table.Tr key={channel.id}>
            <Table.Th scope="row">
              {channel.name}
              <Text size="xs" c="dimmed">
                {channel.owner ?? 'nobody’s'}
                {channel.is_enabled ? '' : ', switched off'}
              </Text>
            </Table.Th>
            <Table.Td>
              {channel.target}
              <Text size="xs" c="dimmed">
                {channel.kind}
              </Text>
            </Table.Td>
            <Table.Td style={WRAPPED}>{about(channel)}</Table.Td>
            <Table.Td style={WRAPPED}>
              <Last channel={channel} />
            </Table.Td>
            <Table.Td>
              <Actions channel={channel} onShow={() => setShown(channel)} />
            </Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
      <SentDialog channel={shown} onClose={() => setShown(null)} />
    </>
  )
}

function Last({ channel: { last } }: { channel: Channel }) {
  const now_ms = useNow()
  if (!last)
    return (
      <Text size="sm" c="dimmed">
        nothing yet
      </Text>
    )
  return (
    <>
      <StateBadge state={STATES[last.state].tone} label={STATES[last.state].label} /> {formatRelative(last.tried_at, now_ms)}
      {last.state === 'sent' ? null : (
        <Text size="xs" c="dimmed">
          {last.detail}
        </Text>
      )}
    </>
  )
}

function Actions({ channel, onShow }: { channel: Channel; onShow: () => void }) {
  const test = useTestChannel()
  const change = useChangeChannel()
  const remove = useRemoveChannel()
  const path = { channel_id: channel.id }
  const error = test.error ?? change.error
  return (
    <>
      <Group gap="xs" justify="flex-end" wrap="nowrap">
        <Button
          size="compact-sm"
          variant="default"
          loading={test.isPending}
          aria-label={`Test ${channel.name}`}
          onClick={() => test.mutate({ params: { path } })}
        >
          Test
        </Button>
        <Button size="compact-sm" variant="default" aria-label={`What was sent to ${channel.name}`} onClick={onShow}>
          Sent
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          loading={change.isPending}
          aria-label={`Switch ${channel.name} ${channel.is_enabled ? 'off' : 'on'}`}
          onClick={() => change.mutate({ params: { path }, body: { is_enabled: !channel.is_enabled } })}
        >
          {channel.is_enabled ? 'Switch off' : 'Switch on'}
        </Button>
        <ConfirmButton
          size="compact-sm"
          variant="default"
          question={`Remove “${channel.name}”?`}
          consequence="Pending notifications are dropped, and the record of sent ones is deleted."
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={(close) => remove.mutate({ params: { path } }, { onSuccess: close })}
        >
          Remove
        </ConfirmButton>
      </Group>
      {error ? <ProblemAlert error={error} /> : null}
      {test.data ? (
        <Text size="sm" mt={4} maw={360} ml="auto" ta="right" role="status" style={{ whiteSpace: 'normal' }}>
          {test.data.is_sent ? `The test has arrived. ${test.data.detail}` : `The test did not arrive. ${test.data.detail}`}
        </Text>
      ) : null}
    </>
  )
}
