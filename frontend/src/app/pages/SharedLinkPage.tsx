import { Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Door } from '@/features/session/Door'
import { useOpenShare } from '@/features/shares/queries'
import { ProblemAlert } from '@/ui/ProblemAlert'

/** Where a share link leads: its secret stands in the fragment, which no server sees, leaves the address at once and becomes a cookie. */
export function SharedLinkPage() {
  const [secret] = useState(() => window.location.hash.slice(1))
  const navigate = useNavigate()
  const { mutate, error } = useOpenShare()
  const isAsked = useRef(false)
  useEffect(() => {
    if (window.location.hash) window.history.replaceState(window.history.state, '', window.location.pathname)
    if (isAsked.current || !secret) return
    isAsked.current = true
    mutate(
      { body: { secret } },
      {
        onSuccess: ({ campaign_id }) =>
          void navigate({ to: '/shared/$campaignId', params: { campaignId: campaign_id }, search: {}, replace: true }),
      },
    )
  }, [secret, mutate, navigate])
  return (
    <Door title="Shared campaign" lead="Somebody shares measurements with you. You need no account.">
      {error ? <ProblemAlert error={error} /> : null}
      {secret ? null : <Text size="sm">Open the link that you were given, all of it: what stands behind its # is the key.</Text>}
      {secret && !error ? <Text size="sm">Opening…</Text> : null}
    </Door>
  )
}
