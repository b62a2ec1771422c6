/**
 * A tab whose script fails once is there all the same; one whose script stays away says so in its place, and comes when it is tried again.
 *   node e2e/lost-part.mjs --base-url URL --username U --password P --run ID
 * Prints what was seen at each step.
 */
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(['base-url', 'username', 'password', 'run'].map((name) => [name, { type: /** @type {const} */ ('string') }])),
})
const baseUrl = String(values['base-url'])

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: String(values.username), password: String(values.password) })
  const { page } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  await visit(page, new URL(`/runs/${values.run}`, baseUrl).href)
  await page.route('**/assets/TracesTab-*.js', (route) => route.abort(), { times: 1 })
  await page.getByRole('tab', { name: 'Traces' }).click()
  await page.getByRole('group', { name: 'Traces' }).waitFor()
  console.log('there at the second try')
  await page.route('**/assets/SettingsTab-*.js', (route) => route.abort())
  await page.getByRole('tab', { name: 'Settings and hosts' }).click()
  await page.getByRole('tabpanel').getByRole('alert').getByText('files_missing').waitFor()
  console.log(`${await page.getByRole('heading', { level: 1 }).count()} heading above what is missing`)
  await page.unroute('**/assets/SettingsTab-*.js')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('tabpanel').getByRole('region').first().waitFor()
  console.log('there when it is tried again')
} finally {
  await browser.close()
}
