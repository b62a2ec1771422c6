import { cleanup, configure } from '@testing-library/react'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { server } from './network'

const WIDTH = 900

// When to give up, not how long something takes: waiting longer costs nothing when all is well.
configure({ asyncUtilTimeout: 60_000 })

/** jsdom lays nothing out: every observed element is said to be this wide, so that charts draw. */
class FixedResizeObserver implements ResizeObserver {
  private readonly listener: ResizeObserverCallback
  constructor(listener: ResizeObserverCallback) {
    this.listener = listener
  }
  observe(target: Element) {
    const contentRect = { x: 0, y: 0, top: 0, left: 0, right: WIDTH, bottom: 400, width: WIDTH, height: 400, toJSON: () => null }
    this.listener([{ target, contentRect, borderBoxSize: [], contentBoxSize: [], devicePixelContentBoxSize: [] }], this)
  }
  unobserve() {}
  disconnect() {}
}

/** jsdom has neither streams of events nor web locks; live.test.ts brings its own. */
class SilentEventSource extends EventTarget {
  close() {}
}

/** Everything is in sight. */
class SeeingObserver implements IntersectionObserver {
  readonly root = null
  readonly rootMargin = ''
  readonly scrollMargin = ''
  readonly thresholds = []
  private readonly listener: IntersectionObserverCallback
  constructor(listener: IntersectionObserverCallback) {
    this.listener = listener
  }
  observe(target: Element) {
    this.listener([{ isIntersecting: true, target } as IntersectionObserverEntry], this)
  }
  unobserve() {}
  disconnect() {}
  takeRecords() {
    return []
  }
}

Object.assign(globalThis, { IntersectionObserver: SeeingObserver, ResizeObserver: FixedResizeObserver, EventSource: SilentEventSource })
Object.assign(window, {
  matchMedia: (query: string) => ({
    matches: false,
    media: query,
    addEventListener() {},
    removeEventListener() {},
    addListener() {},
    removeListener() {},
  }),
  scrollTo: () => undefined,
})
// Where nothing is laid out there is nothing to scroll; lists of choices try to.
Element.prototype.scrollIntoView = () => undefined
Range.prototype.getClientRects = () => [] as unknown as DOMRectList
Object.defineProperty(document, 'fonts', { configurable: true, value: new EventTarget() })
Object.defineProperty(navigator, 'locks', { configurable: true, value: { request: () => new Promise(() => undefined) } })

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => {
  cleanup()
  server.resetHandlers()
  localStorage.clear()
  sessionStorage.clear()
})
afterAll(() => server.close())
