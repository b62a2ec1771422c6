import createFetchClient, { type Middleware } from 'openapi-fetch'
import createQueryClient from 'openapi-react-query'
import type { paths } from './schema'
import { watchWaiting } from './waiting'

export const API = '/api/v1'

let signedOutListener: (() => void) | null = null

/** Called when the server no longer knows this browser. One listener: the app. */
export function onSignedOut(listener: () => void): void {
  signedOutListener = listener
}

/** For requests that do not go through `client`. */
export function noteSignedOut(): void {
  signedOutListener?.()
}

const watchSession: Middleware = {
  onResponse({ response, schemaPath }) {
    const isAsking = schemaPath === `${API}/session` || schemaPath === `${API}/login`
    if (response.status === 401 && !isAsking) noteSignedOut()
  },
}

/** The one place that talks HTTP. `fetch` is looked up per call so that tests can stand in for the network. */
export const client = createFetchClient<paths>({
  baseUrl: window.location.origin,
  fetch: (request) => globalThis.fetch(request),
})
client.use(watchSession, watchWaiting)

/** Query and mutation hooks typed by the OpenAPI document; the query key is [method, path, parameters]. */
export const api = createQueryClient(client)
