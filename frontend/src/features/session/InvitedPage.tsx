import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { sessionQuery } from '@/api/session'
import type { OpenedInvitation } from '@/api/types'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { Door } from './Door'
import { checkLength, PASSWORD_HINT } from './password'
import { useAcceptInvitation, useOpenInvitation } from './queries'
import { useFragment } from './useFragment'

/** What an invitation's link opens: a new account, or a new password for one. */
export function InvitedPage() {
  const secret = useFragment()
  const { mutate, data, error } = useOpenInvitation()
  useEffect(() => mutate({ body: { secret } }), [mutate, secret])
  if (error) {
    return (
      <Door title="Invitation" lead="This link cannot be used.">
        <ProblemAlert error={error} />
      </Door>
    )
  }
  return data ? <AcceptForm secret={secret} invitation={data} /> : <Door title="Invitation" lead="One moment…" />
}

function AcceptForm({ secret, invitation }: { secret: string; invitation: OpenedInvitation }) {
  const router = useRouter()
  const cache = useQueryClient()
  const accept = useAcceptInvitation()
  const known = invitation.username
  const form = useForm({
    initialValues: { username: known ?? '', password: '', repeated: '' },
    validate: {
      username: (value) => (value.trim() ? null : 'Choose a user name'),
      password: checkLength,
      repeated: (value, all) => (value === all.password ? null : 'The two passwords differ'),
    },
  })
  const submit = form.onSubmit(({ username, password }) =>
    accept.mutate(
      { body: { secret, username: known ? null : username, password } },
      {
        onSuccess: (session) => {
          cache.setQueryData(sessionQuery.queryKey, session)
          void router.navigate({ to: '/campaigns' })
        },
      },
    ),
  )
  return (
    <Door
      title={known ? 'A new password' : 'Welcome'}
      lead={known ? `For the account ${known}.` : `Make your account, as ${invitation.role}.`}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput label="User name" autoComplete="username" required readOnly={known !== null} {...form.getInputProps('username')} />
          <PasswordInput
            label="Password"
            description={PASSWORD_HINT}
            autoComplete="new-password"
            required
            {...form.getInputProps('password')}
          />
          <PasswordInput label="Password again" autoComplete="new-password" required {...form.getInputProps('repeated')} />
          {accept.error ? <ProblemAlert error={accept.error} /> : null}
          <Button type="submit" loading={accept.isPending} fullWidth>
            {known ? 'Set the password' : 'Make the account'}
          </Button>
        </Stack>
      </form>
    </Door>
  )
}
