import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plugin } from 'vite'
import { answer } from './answers.ts'
import { readBody } from './body.ts'
import { makeWorld } from './world.ts'

const PREFIX = '/api/v1'

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return readBody(new Response(Buffer.concat(parts), { headers: { 'content-type': request.headers['content-type'] ?? '' } }))
}

/** `npm run mock`: the dashboard over example records, without a backend. For looking at pages, never part of a build. */
export function mockServer(): Plugin {
  const world = makeWorld()
  const respond = async (request: IncomingMessage, response: ServerResponse, next: () => void) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://local')
    if (!path.startsWith(PREFIX)) return next()
    if (path === `${PREFIX}/events`) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: hello\ndata: {}\n\n')
      return
    }
    const asked = request.method === 'GET' ? Object.fromEntries(searchParams) : await bodyOf(request)
    const { status, body } = answer(world, request.method ?? 'GET', path.slice(PREFIX.length), asked)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body === undefined ? undefined : JSON.stringify(body))
  }
  return {
    name: 'downlink-mock',
    configureServer: (server) => void server.middlewares.use(respond),
    configurePreviewServer: (server) => void server.middlewares.use(respond),
  }
}
