import { API } from './client'
import type { LiveEvent, LiveKind } from './types'

/**
 * Live events, one stream per browser: HTTP/1.1 allows six connections to a server, and a stream holds one for good.
 * Among the visible tabs the one that holds a web lock reads the stream and passes events on by BroadcastChannel.
 * A hidden tab lets go, so that the stream is always read by a tab that the browser does not slow down.
 * Over plain HTTP from another host browsers have no locks: there each visible tab reads a stream.
 */
const LIVE_KINDS = Object.keys({
  ...{ run: true, progress: true, campaign: true, report: true, reanalysis: true, unexpected: true },
  ...{ sweep: true, agent: true, service: true, hello: true, refetch: true },
} satisfies Record<LiveKind, true>) as LiveKind[]

export type LiveMessage = { type: 'event'; kind: LiveKind; data: LiveEvent } | { type: 'status'; isConnected: boolean }

const NAME = 'downlink-live'

const FIRST_WAIT_MS = 3_000
const LONGEST_WAIT_MS = 60_000

/**
 * Read the stream until the signal ends. The browser reconnects with Last-Event-ID by itself when a stream breaks, but gives
 * up after an answer that is no stream (HTML standard, 9.2.2), such as 503: then a new one is opened after a while.
 */
function readStream(post: (message: LiveMessage) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource
    let timer: ReturnType<typeof setTimeout> | undefined
    let waitMs = FIRST_WAIT_MS

    const open = () => {
      source = new EventSource(`${API}/events`)
      source.addEventListener('open', () => {
        waitMs = FIRST_WAIT_MS
        post({ type: 'status', isConnected: true })
      })
      source.addEventListener('error', () => {
        post({ type: 'status', isConnected: false })
        if (source.readyState !== EventSource.CLOSED) return
        timer = setTimeout(open, waitMs)
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
      })
      for (const kind of LIVE_KINDS) {
        source.addEventListener(kind, (event: MessageEvent<string>) => post({ type: 'event', kind, data: JSON.parse(event.data) }))
      }
    }
    open()
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      source.close()
      resolve()
    })
  })
}

const hasLocks = () => 'locks' in navigator

/** Hand every live message to `listener` until the returned function is called. */
export function listenLive(listener: (message: LiveMessage) => void): () => void {
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = (event: MessageEvent<LiveMessage>) => listener(event.data)
  const post = (message: LiveMessage) => {
    listener(message)
    channel.postMessage(message)
  }
  let turn: AbortController | null = null

  const takePart = () => {
    if (turn) return
    const own = new AbortController()
    turn = own
    const read = () => readStream(post, own.signal)
    if (hasLocks()) navigator.locks.request(NAME, { signal: own.signal }, read).catch(() => undefined)
    else void read()
  }
  const letGo = () => {
    turn?.abort()
    turn = null
  }
  const followVisibility = () => (document.hidden ? letGo() : takePart())

  document.addEventListener('visibilitychange', followVisibility)
  followVisibility()
  return () => {
    document.removeEventListener('visibilitychange', followVisibility)
    letGo()
    channel.close()
  }
}
