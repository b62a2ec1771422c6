import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { sessionQuery } from '@/api/session'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { Door } from './Door'
import { checkLength, PASSWORD_HINT } from './password'
import { useSetup, useSetupState } from './queries'
import { useFragment } from './useFragment'

export function SetupPage() {
  const fragment = useFragment()
  const state = useSetupState()
  if (state.data && !state.data.is_needed) {
    return (
      <Door title="Set-up is done" lead="The account already exists.">
        <Button component={Link} to="/login" fullWidth>
          To the sign-in
        </Button>
      </Door>
    )
  }
  return <SetupForm token={fragment} />
}

function SetupForm({ token }: { token: string }) {
  const router = useRouter()
  const cache = useQueryClient()
  const setup = useSetup()
  const form = useForm({
    initialValues: { token, username: 'admin', password: '', repeated: '' },
    validate: {
      token: (value) => (value ? null : 'Paste the part of the set-up link after #'),
      password: checkLength,
      repeated: (value, all) => (value === all.password ? null : 'The two passwords differ'),
    },
  })
  const submit = form.onSubmit(({ token: shown, username, password }) =>
    setup.mutate(
      { body: { token: shown, username, password } },
      {
        onSuccess: (session) => {
          cache.setQueryData(sessionQuery.queryKey, session)
          void router.navigate({ to: '/campaigns' })
        },
      },
    ),
  )
  return (
    <Door title="Welcome" lead="Create the account that administers this Downlink.">
      <form onSubmit={submit} noValidate>
        <Stack>
          {token ? null : (
            <TextInput label="Set-up token" description="From the link that the server printed" required {...form.getInputProps('token')} />
          )}
          <TextInput label="User name" autoComplete="username" required {...form.getInputProps('username')} />
          <PasswordInput
            label="Password"
            description={PASSWORD_HINT}
            autoComplete="new-password"
            required
            {...form.getInputProps('password')}
          />
          <PasswordInput label="Password again" autoComplete="new-password" required {...form.getInputProps('repeated')} />
          {setup.error ? <ProblemAlert error={setup.error} /> : null}
          <Button type="submit" loading={setup.isPending} fullWidth>
            Make the account
          </Button>
          <Text size="xs" c="dimmed">
            The set-up link works once.
          </Text>
        </Stack>
      </form>
    </Door>
  )
}
