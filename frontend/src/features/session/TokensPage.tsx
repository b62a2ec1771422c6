import { Alert, Button, Checkbox, Group, Select, Stack, Table, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Token } from '@/api/types'
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
import { useCreateToken, useRevokeToken, useTokens } from './queries'

export function TokensPage() {
  const tokens = useTokens()
  return (
    <>
      <PageHeader title="API tokens" description="For scripts and the command line. A token acts in your name within its scope." />
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
      </Stack>
    </>
  )
}

function NewToken() {
  const create = useCreateToken()
  const form = useForm({
    initialValues: { name: '', canWrite: false, days: '90' },
    validate: { name: (value) => (value.trim() ? null : 'Say what the token is for') },
  })
  const submit = form.onSubmit(({ name, canWrite, days }) =>
    create.mutate(
      { body: { name, scopes: canWrite ? ['read', 'write'] : ['read'], expires_in_days: days === 'never' ? null : Number(days) } },
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
          <Checkbox label="May change things" mb={8} {...form.getInputProps('canWrite', { type: 'checkbox' })} />
          <Button type="submit" loading={create.isPending}>
            Make token
          </Button>
        </Group>
      </form>
      {create.error ? <ProblemAlert error={create.error} /> : null}
      {create.data ? (
        <Alert mt="md" color="green" variant="light" title={`Token “${create.data.name}” is made. Copy it now: it is shown this once.`}>
          <CopyCommand value={create.data.secret} label="The new token" />
        </Alert>
      ) : null}
    </Panel>
  )
}

function TokenTable({ tokens }: { tokens: Token[] }) {
  const now_ms = useNow()
  return (
    <ScrollTable label="API tokens">
      <Table.Thead>
        <Table.Tr>
          {['Name', 'Begins with', 'May', 'Last used', 'Expires', ''].map((head) => (
            <Table.Th key={head} scope="col">
              {head || <VisuallyHidden>Actions</VisuallyHidden>}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {tokens.map((token) => (
          <Table.Tr key={token.id}>
            <Table.Th scope="row">{token.name}</Table.Th>
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
      </Table.Tbody>
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
