import { Table } from '@mantine/core'
import type { OpenSession } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { useRevokeSession, useSessions } from './queries'

/** Every browser that is signed in; each can be signed out from here. */
export function SessionsPanel() {
  const sessions = useSessions()
  return (
    <Panel title="Signed-in browsers" isFlush>
      <QueryPanel query={sessions}>{({ items }) => <SessionTable sessions={items} />}</QueryPanel>
    </Panel>
  )
}

function SessionTable({ sessions }: { sessions: OpenSession[] }) {
  return (
    <ScrollTable label="Signed-in browsers" heads={['Address', 'Browser', 'Signed in', 'Ends', '']}>
      {sessions.map((session) => (
        <Table.Tr key={session.id}>
          <Table.Th scope="row">{session.address}</Table.Th>
          <Table.Td>{session.browser || '–'}</Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatMoment(session.created_at)}</Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatMoment(session.expires_at)}</Table.Td>
          <Table.Td ta="right">{session.is_own ? 'this one' : <SignOut session={session} />}</Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}

function SignOut({ session }: { session: OpenSession }) {
  const revoke = useRevokeSession()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={`Sign out the browser at ${session.address}?`}
      consequence="Its next request is refused."
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={(close) => revoke.mutate({ params: { path: { session_id: session.id } } }, { onSuccess: close })}
    >
      Sign out
    </ConfirmButton>
  )
}
