import { Alert, Button, Group, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Token, TokenBody } from '@/api/types'
import { formatMoment, formatRelative } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { CopyCommand } from '@/ui/CopyCommand'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { useNow } from '@/ui/useNow'
import { ConnectionPanel } from './ConnectionPanel'
import { MeansPanel } from './MeansPanel'
import { PasswordPanel } from './PasswordPanel'
import { useCreateToken, useRevokeToken, useTokens } from './queries'
import { SessionsPanel } from './SessionsPanel'

const RIGHTS = {
  read: { label: 'read', scopes: ['read'] },
  write: { label: 'read, and change campaigns and links', scopes: ['read', 'write'] },
  admin: { label: 'everything, tokens and agents included', scopes: ['read', 'write', 'admin'] },
} satisfies Record<string, { label: string; scopes: TokenBody['scopes'] }>
type Right = keyof typeof RIGHTS

export function TokensPage() {
  const tokens = useTokens()
  return (
    <>
      <PageHeader
        title="Access"
        description="API tokens for scripts and the command line, browsers that are signed in, and your password."
      />
      <Stack gap="lg">
        <NewToken />
        <Panel title="Tokens" isFlush>
          <QueryPanel
            query={tokens}
            empty={({ items }) =>
              items.length === 0 ? (
                <Empty title="No tokens yet">Make one above, then set it as DOWNLINK_TOKEN for the command line.</Empty>
              ) : null
            }
          >
            {({ items }) => <TokenTable tokens={items} />}
          </QueryPanel>
        </Panel>
        <SessionsPanel />
        <PasswordPanel />
        <ConnectionPanel />
        <MeansPanel />
      </Stack>
    </>
  )
}

function NewToken() {
  const create = useCreateToken()
  const form = useForm({
    initialValues: { name: '', right: 'read' as Right, days: '90' },
    validate: { name: (value) => (value.trim() ? null : 'Say what the token is for') },
  })
  const submit = form.onSubmit(({ name, right, days }) =>
    create.mutate(
      { body: { name, scopes: RIGHTS[right].scopes, expires_in_days: days === 'never' ? null : Number(days) } },
      { onSuccess: () => form.reset() },
    ),
  )
  return (
    <Panel title="New token">
      <form onSubmit={submit} noValidate>
        <Group align="flex-end" gap="md">
          <TextInput label="Name" placeholder="Nightly export" required flex="1 1 220px" {...form.getInputProps('name')} />
          <Select
            label="Expires"
            w={150}
            allowDeselect={false}
            data={[
              { value: '30', label: 'in 30 days' },
              { value: '90', label: 'in 90 days' },
              { value: '365', label: 'in one year' },
              { value: 'never', label: 'never' },
            ]}
            {...form.getInputProps('days')}
          />
          <Select
            label="May"
            w={260}
            allowDeselect={false}
            data={Object.entries(RIGHTS).map(([value, { label }]) => ({ value, label }))}
            {...form.getInputProps('right')}
          />
          <Button type="submit" loading={create.isPending}>
            Make token
          </Button>
        </Group>
      </form>
      {create.error ? <ProblemAlert error={create.error} /> : null}
      {create.data ? (
        <Alert mt="md" color="green" variant="light" title={`Token “${create.data.name}” is created. Copy it now: it is shown only once.`}>
          <CopyCommand value={create.data.secret} label="The new token" />
        </Alert>
      ) : null}
    </Panel>
  )
}

function TokenTable({ tokens }: { tokens: Token[] }) {
  const now_ms = useNow()
  return (
    <ScrollTable label="API tokens" heads={['Name', 'Begins with', 'May', 'Last used', 'Expires', '']}>
      {tokens.map((token) => (
        <Table.Tr key={token.id}>
          <Table.Th scope="row" miw={120} style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
            {token.name}
          </Table.Th>
          <Table.Td>
            <code>{token.prefix}…</code>
          </Table.Td>
          <Table.Td>{token.scopes.join(' and ')}</Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatRelative(token.last_used_at, now_ms)}</Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{token.expires_at ? formatMoment(token.expires_at) : 'never'}</Table.Td>
          <Table.Td ta="right">
            <Revoke token={token} />
          </Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}

function Revoke({ token }: { token: Token }) {
  const revoke = useRevokeToken()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={`Revoke “${token.name}”?`}
      consequence={<Text span>Its next request is refused. This cannot be undone.</Text>}
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={(close) => revoke.mutate({ params: { path: { token_id: token.id } } }, { onSuccess: close })}
    >
      Revoke
    </ConfirmButton>
  )
}
