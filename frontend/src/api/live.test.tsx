import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type LiveMessage, listenLive } from './live'

/** A stream that the test speaks through. */
class FakeEventSource extends EventTarget {
  static open: FakeEventSource[] = []
  static readonly CLOSED = 2
  readyState = 1
  constructor() {
    super()
    FakeEventSource.open.push(this)
  }
  close() {
    FakeEventSource.open = FakeEventSource.open.filter((one) => one !== this)
  }
  say(kind: string, data: object) {
    this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data) }))
  }
}

/** Says at once what another listener posts: a real channel takes as long as the machine likes. */
class FakeChannel {
  static open: FakeChannel[] = []
  onmessage: ((event: { data: unknown }) => void) | null = null
  constructor() {
    FakeChannel.open.push(this)
  }
  postMessage(data: unknown) {
    for (const one of FakeChannel.open) if (one !== this) one.onmessage?.({ data: structuredClone(data) })
  }
  close() {
    FakeChannel.open = FakeChannel.open.filter((one) => one !== this)
  }
}

/** Web locks within one page: one holder, the rest wait in line. */
function makeLocks() {
  let queue: Promise<unknown> = Promise.resolve()
  return {
    request: (_name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<void>) => {
      const turn = queue.then(() => (signal.aborted ? undefined : hold()))
      queue = turn
      return turn
    },
  }
}

/** Locks pass from one to the next in a few turns; nothing of it waits for a clock. */
async function settle() {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

let isHidden = false
const stops: (() => void)[] = []

function listen(): LiveMessage[] {
  const heard: LiveMessage[] = []
  stops.push(listenLive((message) => heard.push(message)))
  return heard
}

beforeEach(() => {
  isHidden = false
  FakeEventSource.open = []
  vi.stubGlobal('EventSource', FakeEventSource)
  vi.stubGlobal('BroadcastChannel', FakeChannel)
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => isHidden)
  Object.defineProperty(navigator, 'locks', { configurable: true, value: makeLocks() })
})

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  vi.unstubAllGlobals()
})

it('two listeners share one stream, and both hear every event', async () => {
  const [first, second] = [listen(), listen()]
  await settle()
  expect(FakeEventSource.open).toHaveLength(1)
  FakeEventSource.open[0]?.say('progress', { run_id: 'r', elapsed_s: 3, bytes: 5 })
  await settle()
  const event = { type: 'event', kind: 'progress', data: { run_id: 'r', elapsed_s: 3, bytes: 5 } }
  expect([first, second]).toEqual([[event], [event]])
})

it('when the reader leaves, the next in line takes over', async () => {
  listen()
  const second = listen()
  await settle()
  stops.shift()?.()
  await settle()
  expect(FakeEventSource.open).toHaveLength(1)
  FakeEventSource.open[0]?.say('report', { campaign_id: 'c' })
  expect(second).toEqual([{ type: 'event', kind: 'report', data: { campaign_id: 'c' } }])
})

it('a hidden page holds no stream and takes one again when it is seen', async () => {
  listen()
  await settle()
  isHidden = true
  document.dispatchEvent(new Event('visibilitychange'))
  await settle()
  expect(FakeEventSource.open).toHaveLength(0)
  isHidden = false
  document.dispatchEvent(new Event('visibilitychange'))
  await settle()
  expect(FakeEventSource.open).toHaveLength(1)
})

it('a broken stream is told, so that the page can say so', async () => {
  const heard = listen()
  await settle()
  FakeEventSource.open[0]?.dispatchEvent(new Event('error'))
  FakeEventSource.open[0]?.dispatchEvent(new Event('open'))
  expect(heard).toEqual([
    { type: 'status', isConnected: false },
    { type: 'status', isConnected: true },
  ])
})

it('after an answer that is no stream, a new stream is opened', async () => {
  const heard = listen()
  await settle()
  vi.useFakeTimers()
  for (const waitMs of [3_000, 6_000]) {
    const [source] = FakeEventSource.open
    if (!source) throw new Error('no stream is open')
    source.readyState = FakeEventSource.CLOSED
    source.close()
    source.dispatchEvent(new Event('error'))
    vi.advanceTimersByTime(waitMs - 1)
    expect(FakeEventSource.open).toHaveLength(0)
    vi.advanceTimersByTime(1)
    expect(FakeEventSource.open).toHaveLength(1)
  }
  vi.useRealTimers()
  FakeEventSource.open[0]?.say('report', { campaign_id: 'c' })
  expect(heard.at(-1)).toEqual({ type: 'event', kind: 'report', data: { campaign_id: 'c' } })
})

it('a browser without locks, as over plain HTTP, reads the stream in each visible tab', async () => {
  Reflect.deleteProperty(navigator, 'locks')
  const heard = listen()
  await settle()
  expect(FakeEventSource.open).toHaveLength(1)
  FakeEventSource.open[0]?.say('agent', {})
  expect(heard.at(-1)).toMatchObject({ type: 'event', kind: 'agent' })
  isHidden = true
  document.dispatchEvent(new Event('visibilitychange'))
  expect(FakeEventSource.open).toHaveLength(0)
})
