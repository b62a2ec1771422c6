import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { answer } from './answers.ts'
import { readBody } from './body.ts'
import { makeWorld, type World } from './world.ts'

const PREFIX = '/api/v1'

/** Stands in for the network in tests. `serve` says what is behind it. */
export const server = setupServer()

/** Answer every API call from this world; gives it back so that a test can look at what was changed. */
export function serve(world: World = makeWorld()): World {
  server.use(
    http.all(`*${PREFIX}/*`, async ({ request }) => {
      const { pathname, searchParams } = new URL(request.url)
      const asked = request.method === 'GET' ? Object.fromEntries(searchParams) : await readBody(request)
      const { status, body } = answer(world, request.method, pathname.slice(PREFIX.length), asked)
      return body === undefined ? new HttpResponse(null, { status }) : HttpResponse.json(body as object, { status })
    }),
  )
  return world
}
