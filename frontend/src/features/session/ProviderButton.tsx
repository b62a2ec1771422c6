import { Alert, Button, Divider } from '@mantine/core'
import { API, api } from '@/api/client'
import { REFUSALS, UNKNOWN_REFUSAL } from './refusals'
import { useFragment } from './useFragment'

const REFUSED = /^refused=(\w+)$/

/** The way to the institute's identity provider, where the server has one; and why it let nobody in, when it sent the browser back. */
export function ProviderButton() {
  const { data } = api.useQuery('get', `${API}/provider`)
  const code = REFUSED.exec(useFragment())?.[1]
  return (
    <>
      {code ? (
        <Alert color="red" mb="md" role="alert">
          {REFUSALS[code] ?? UNKNOWN_REFUSAL}
        </Alert>
      ) : null}
      {data?.is_on ? (
        <>
          <Button component="a" href={`${API}/provider/start`} variant="default" fullWidth>
            Sign in with {data.name}
          </Button>
          <Divider my="md" label="or with a password" />
        </>
      ) : null}
    </>
  )
}
