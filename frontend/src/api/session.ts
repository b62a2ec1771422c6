import { queryOptions, useQuery } from '@tanstack/react-query'
import { API, client } from './client'
import type { Session } from './types'

/** What an account may be allowed to do, by the server's one table. */
export type Verb = Session['may_any'][number]

/** Who is signed in; null for nobody, so that a sign-in page is no error. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: async (): Promise<Session | null> => {
    const { data, error, response } = await client.GET(`${API}/session`)
    if (response.status === 401) return null
    if (error) throw error
    return data ?? null
  },
})

/** Whether this account may do it. owner: the account that the thing belongs to; left out for what belongs to nobody yet. */
export function useMay(verb: Verb, owner?: string | null): boolean {
  const { data: session } = useQuery(sessionQuery)
  if (!session) return false
  return session.may_any.includes(verb) || (session.may_own.includes(verb) && !!owner && owner === session.account_id)
}
