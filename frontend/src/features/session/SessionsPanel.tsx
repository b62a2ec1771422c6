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
    <ScrollTable label="Signed-in browsers" heads={['Address', 'Browser', 'Signed in', 'Ends', '']} role="table" data-stacks>
      {sessions.map((session) => (
        <Table.Tr role="row" key={session.id}>
          <Table.Th scope="row" role="rowheader">
            {session.address}
          </Table.Th>
          <Table.Td role="cell" data-label="Browser" data-whole miw={260} style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
            {session.browser || '–'}
          </Table.Td>
          <Table.Td role="cell" data-label="Signed in">
            {formatMoment(session.created_at)}
          </Table.Td>
          <Table.Td role="cell" data-label="Ends">
            {formatMoment(session.expires_at)}
          </Table.Td>
          <Table.Td role="cell" ta="right">
            {session.is_own ? 'this one' : <SignOut session={session} />}
          </Table.Td>
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
