import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { sessionQuery } from '@/api/session'
import { CopyCommand } from '@/ui/CopyCommand'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { Door } from './Door'
import { ProviderButton } from './ProviderButton'
import { useLogin, useSetupState } from './queries'

const route = getRouteApi('/login')
const COMMANDS = [
  ['make demo or make up', '.venv/bin/downlink setup-link'],
  ['docker compose', 'docker compose exec api downlink setup-link'],
] as const

export function LoginPage() {
  const { next } = route.useSearch()
  const router = useRouter()
  const cache = useQueryClient()
  const setup = useSetupState()
  const login = useLogin()
  const form = useForm({ initialValues: { username: '', password: '' } })
  const submit = form.onSubmit((body) =>
    login.mutate(
      { body },
      {
        onSuccess: (session) => {
          cache.setQueryData(sessionQuery.queryKey, session)
          router.history.push(next ?? '/campaigns')
        },
      },
    ),
  )
  if (setup.data?.is_needed) return <SetupFirst />
  return (
    <Door title="Sign in" lead="With the account created at set-up.">
      <ProviderButton />
      <form onSubmit={submit}>
        <Stack>
          <TextInput label="User name" autoComplete="username" required autoFocus {...form.getInputProps('username')} />
          <PasswordInput label="Password" autoComplete="current-password" required {...form.getInputProps('password')} />
          {login.error ? <ProblemAlert error={login.error} /> : null}
          <Button type="submit" loading={login.isPending} fullWidth>
            Sign in
          </Button>
        </Stack>
      </form>
    </Door>
  )
}

function SetupFirst() {
  return (
    <Door title="Set-up comes first" lead="There is no account yet.">
      <Text size="sm">
        Open the set-up link that the server printed when it started. For a new one, type this on the server, in the folder of Downlink:
      </Text>
      {COMMANDS.map(([started, command]) => (
        <Text key={command} size="sm" mt="sm" component="div">
          Started by {started}:
          <CopyCommand value={command} label={`The command after ${started}`} />
        </Text>
      ))}
    </Door>
  )
}
