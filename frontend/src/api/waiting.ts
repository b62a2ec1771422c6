import type { Middleware } from 'openapi-fetch'

/** When each request that has no answer yet was sent, by openapi-fetch's id of it. */
const sent = new Map<string, number>()

/** Notes which requests wait for an answer. */
export const watchWaiting: Middleware = {
  onRequest({ id }) {
    sent.set(id, Date.now())
  },
  onResponse({ id }) {
    sent.delete(id)
  },
  onError({ id }) {
    sent.delete(id)
  },
}

/** How long the request that has waited longest has waited, in ms; 0 when none waits. */
export function longestWaitMs(now_ms: number): number {
  return sent.size === 0 ? 0 : now_ms - Math.min(...sent.values())
}
