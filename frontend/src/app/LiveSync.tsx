import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { API, api } from '@/api/client'
import { listenLive } from '@/api/live'
import { applyLiveEvent } from '@/api/sync'
import classes from './shell.module.css'

/** A dropped stream within this time is not worth a banner: browsers reconnect in about three seconds. */
const PATIENCE_MS = 5000

/** Keeps the cache in step with the server and says so when it cannot. */
export function LiveSync() {
  const cache = useQueryClient()
  const [isConnected, setConnected] = useState(true)
  const [isBannerShown, setBannerShown] = useState(false)

  useEffect(
    () =>
      listenLive((message) => {
        if (message.type === 'event') applyLiveEvent(cache, message.kind, message.data)
        else setConnected(message.isConnected)
      }),
    [cache],
  )

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

  const isIdle = useIsIdle()
  const said = isBannerShown ? 'No live connection. What you see may be old; the page reconnects by itself.' : isIdle ? IDLE : null
  return (
    <div role="status" className={said ? classes.banner : undefined}>
      {said}
    </div>
  )
}

const IDLE =
  'The server starts no runs: its conductor has stopped. Whoever looks after the server should start it again (downlink conductor).'

/** Whether nothing is started on the server. Asked once; `service` events tell of changes. */
function useIsIdle(): boolean {
  const { data } = api.useQuery('get', `${API}/service`)
  return data?.is_conducting === false
}
