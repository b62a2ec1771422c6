/**
 * A certified OpenID provider for tests, on a port of the loopback address. Whoever types a name is that person.
 * Run: node provider.mjs PORT REDIRECT_URI PEOPLE, where PEOPLE is JSON: name to claims.
 */
import { Provider } from 'oidc-provider'

const [port, redirectUri, people] = process.argv.slice(2)
const claimsOf = JSON.parse(people)

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: 'downlink', client_secret: 'of-the-tests', redirect_uris: [redirectUri], grant_types: ['authorization_code'] }],
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'] },
  findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...claimsOf[sub] }) }),
  ttl: { IdToken: 60, AuthorizationCode: 600, AccessToken: 600, Interaction: 600, Session: 600, Grant: 600 },
  cookies: { keys: ['a key of the tests'] },
})
provider.listen(Number(port), '127.0.0.1')
