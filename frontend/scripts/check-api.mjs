/** Fails when src/api/schema.d.ts is not what backend/openapi.json says, which `make lint-frontend` makes. `npm run api` renews both. */
import { readFileSync } from 'node:fs'
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript'

const document = new URL('../../backend/openapi.json', import.meta.url)
const generated = new URL('../src/api/schema.d.ts', import.meta.url)
const expected = COMMENT_HEADER + astToString(await openapiTS(document, { silent: true }))
if (readFileSync(generated, 'utf8') !== expected) {
  console.error('src/api/schema.d.ts is not what backend/openapi.json says. Run npm run api and commit the result.')
  process.exitCode = 1
}
