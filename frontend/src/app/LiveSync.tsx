import { notifyManager, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { API, api } from '@/api/client'
import { listenLive } from '@/api/live'
import { isUnreachable } from '@/api/problem'
import { followEvents } from '@/api/sync'
import { longestWaitMs } from '@/api/waiting'
import classes from './shell.module.css'

/** A dropped stream within this time is not worth a banner: browsers reconnect in about three seconds. */
const PATIENCE_MS = 5000
const LOOK_MS = 1000

/** Keeps the cache in step with the server and shows when it cannot. */
export function LiveSync() {
  const cache = useQueryClient()
  const [isConnected, setConnected] = useState(true)
  const [isBannerShown, setBannerShown] = useState(false)

  useEffect(() => {
    const events = followEvents(cache)
    const leave = listenLive((message) => {
      if (message.type === 'event') events.take(message.kind, message.data)
      else setConnected(message.isConnected)
    })
    return () => {
      leave()
      events.stop()
    }
  }, [cache])

  useEffect(() => {
    if (isConnected) {
      setBannerShown(false)
      return
    }
    const timer = setTimeout(() => setBannerShown(true), PATIENCE_MS)
    return () => {
      clearTimeout(timer)
      void cache.invalidateQueries()
    }
  }, [isConnected, cache])

  const isAway = useIsUnreachable(cache)
  const isSlow = useIsSlow()
  const trouble = useTrouble()
  const said = isBannerShown || isAway ? AWAY : isSlow ? SLOW : trouble
  return (
    <div role="status" className={said ? classes.banner : undefined}>
      {said}
    </div>
  )
}

const AWAY = 'No live connection. Data may be out of date; the page reconnects by itself.'
const SLOW = 'The server has not answered for some time. Data may be out of date; the page keeps waiting.'
const IDLE = 'The server starts no runs: its conductor has stopped. Ask the server’s administrator to restart it (downlink conductor).'

/** How often a page asks whether the server has room: no event tells of it. */
const ROOM_MS = 60_000

/** Why nothing is started on the server, or nothing accepted. `service` events tell of the conductor. */
function useTrouble(): string | null {
  const { data } = api.useQuery('get', `${API}/service`, {}, { refetchInterval: ROOM_MS })
  if (data?.is_conducting === false) return IDLE
  const reason = data?.room.reason
  return reason ? `The server accepts no samples and no imports: ${reason}. Agents keep what they have measured.` : null
}

/** Whether something that the page shows could not be fetched again because nothing answered. */
function useIsUnreachable(cache: QueryClient): boolean {
  const queries = cache.getQueryCache()
  const subscribe = useCallback((tell: () => void) => queries.subscribe(notifyManager.batchCalls(tell)), [queries])
  return useSyncExternalStore(subscribe, () =>
    queries.getAll().some(({ state }) => state.error !== null && state.data !== undefined && isUnreachable(state.error)),
  )
}

/** Whether a request waits longer than a page should without a word. */
function useIsSlow(): boolean {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setInterval(() => setSlow(longestWaitMs(Date.now()) > PATIENCE_MS), LOOK_MS)
    return () => clearInterval(timer)
  }, [])
  return isSlow
}
