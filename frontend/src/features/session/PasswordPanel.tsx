import { Alert, Button, Group, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { checkLength, PASSWORD_HINT } from './password'
import { useChangePassword } from './queries'

/** A new password for who is signed in; it signs out every other browser. */
export function PasswordPanel() {
  const change = useChangePassword()
  const form = useForm({
    initialValues: { current: '', password: '', repeated: '' },
    validate: {
      current: (value) => (value ? null : 'Your current password'),
      password: checkLength,
      repeated: (value, all) => (value === all.password ? null : 'The two passwords differ'),
    },
  })
  const submit = form.onSubmit(({ current, password }) => change.mutate({ body: { current, password } }, { onSuccess: () => form.reset() }))
  return (
    <Panel
      title="Password"
      description="A new password signs out every other browser. API tokens and links stay valid until you end them below."
    >
      <form onSubmit={submit} noValidate>
        <Group align="flex-start" gap="md">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            flex="1 1 220px"
            {...form.getInputProps('current')}
          />
          <PasswordInput
            label="New password"
            description={PASSWORD_HINT}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="new-password"
            required
            flex="1 1 220px"
            {...form.getInputProps('password')}
          />
          <PasswordInput
            label="New password again"
            autoComplete="new-password"
            required
            flex="1 1 220px"
            {...form.getInputProps('repeated')}
          />
        </Group>
        <Button type="submit" mt="md" loading={change.isPending}>
          Change password
        </Button>
      </form>
      {change.error ? <ProblemAlert error={change.error} /> : null}
      {change.isSuccess ? (
        <Alert mt="md" color="green" variant="light">
          The password is changed. Other browsers are signed out. Check below what else gives access.
        </Alert>
      ) : null}
    </Panel>
  )
}
