import { Text } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Door } from '@/features/session/Door'
import { useOpenShare } from '@/features/shares/queries'
import { ProblemAlert } from '@/ui/ProblemAlert'

const readSecret = () => window.location.hash.slice(1)

function clearSecret(): void {
  if (window.location.hash) window.history.replaceState(window.history.state, '', window.location.pathname)
}

/** Where a share link leads: its secret is in the fragment, which no server sees, leaves the address at once and becomes a cookie. */
export function SharedLinkPage() {
  const [secret, setSecret] = useState(readSecret)
  const navigate = useNavigate()
  const { mutate, error } = useOpenShare()
  const isAsked = useRef(false)
  const open = useCallback(
    (shown: string) =>
      mutate(
        { body: { secret: shown } },
        {
          onSuccess: ({ campaign_id }) =>
            void navigate({ to: '/shared/$campaignId', params: { campaignId: campaign_id }, search: {}, replace: true }),
        },
      ),
    [mutate, navigate],
  )
  useEffect(() => {
    clearSecret()
    if (isAsked.current || !secret) return
    isAsked.current = true
    open(secret)
  }, [secret, open])
  // A second link in the same tab changes the fragment alone: the browser does not load the page again.
  useWindowEvent('hashchange', () => {
    const next = readSecret()
    if (!next) return
    isAsked.current = true
    clearSecret()
    setSecret(next)
    open(next)
  })
  return (
    <Door title="Shared campaign" lead="Someone has shared measurements with you. No account is needed.">
      {error ? <ProblemAlert error={error} onRetry={() => open(secret)} /> : null}
      {secret ? null : <Text size="sm">Open the link that you were given, all of it: what comes after the # is its key.</Text>}
      {secret && !error ? <Text size="sm">Opening…</Text> : null}
    </Door>
  )
}
