import { Button, Group, PasswordInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import { formatMoment } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'

const PATH = `${API}/provider/connection` as const

/** Whether the account is signed in to by the institute's identity provider, too. Nothing where the server has none. */
export function ConnectionPanel() {
  const cache = useQueryClient()
  const provider = api.useQuery('get', `${API}/provider`)
  const isOn = provider.data?.is_on === true
  const connection = api.useQuery('get', PATH, {}, { enabled: isOn })
  const disconnect = api.useMutation('delete', PATH, { onSuccess: () => cache.invalidateQueries({ queryKey: ['get', PATH] }) })
  if (!isOn || !connection.data) return null
  const { is_connected, has_password, identities } = connection.data
  return (
    <Panel title={`Sign-in with ${provider.data?.name}`}>
      <Text size="sm" mb="sm">
        {is_connected
          ? has_password
            ? 'This account is connected: you can sign in either way. Its role stays.'
            : 'This account was created by signing in there: your institute determines its role.'
          : 'Not connected: you sign in with your password alone.'}
      </Text>
      {identities.map(({ issuer, subject, created_at }) => (
        <Text size="sm" mb="sm" key={`${issuer} ${subject}`}>
          As <strong>{subject}</strong> at {issuer}, since {formatMoment(created_at)}.
        </Text>
      ))}
      {is_connected ? null : <Connect />}
      {is_connected && has_password ? (
        <ConfirmButton
          variant="default"
          question="Disconnect this account?"
          consequence="From now on you sign in with your password alone."
          isPending={disconnect.isPending}
          error={disconnect.error}
          onConfirm={(close) => disconnect.mutate({}, { onSuccess: close })}
        >
          Disconnect
        </ConfirmButton>
      ) : null}
    </Panel>
  )
}

/** Asks for the password, since a connection outlives the browser's session. */
function Connect() {
  const connect = api.useMutation('post', PATH, { onSuccess: ({ url }) => window.location.assign(url) })
  const form = useForm({ initialValues: { password: '' }, validate: { password: (value) => (value ? null : 'Your password here') } })
  return (
    <form onSubmit={form.onSubmit(({ password }) => connect.mutate({ body: { password } }))} noValidate>
      <Group align="flex-end">
        <PasswordInput label="Password" autoComplete="current-password" required w={220} {...form.getInputProps('password')} />
        <Button type="submit" variant="default" loading={connect.isPending}>
          Connect
        </Button>
      </Group>
      {connect.error ? <ProblemAlert error={connect.error} /> : null}
    </form>
  )
}
