import { useEffect, useState } from 'react'

/** The secret in the address's fragment, which is never sent to a server; it leaves the address and the history at once. */
export function useFragment(): string {
  const [secret] = useState(() => window.location.hash.slice(1))
  useEffect(() => {
    if (window.location.hash) window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [])
  return secret
}
