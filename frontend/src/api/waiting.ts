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

let asked = 0

/** What is waited for besides, as a script of the page: noted until it has come or failed. */
export async function whileWaiting<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const id = `script ${++asked}`
  sent.set(id, Date.now())
  try {
    return await ask()
  } finally {
    sent.delete(id)
  }
}
