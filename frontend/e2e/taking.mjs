/**
 * The charts of a campaign taken away as SVG, PNG and CSV, each file opened and compared with the page.
 *   node e2e/taking.mjs --base-url URL --username U --password P --campaign ID
 * Prints a line for each chart: how many numbers of its CSV are those of the page. Ends with status 1, and says why, when one is not.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'
import { saveChart } from './saving.mjs'

const TITLES = ['Throughput', 'Congestion window']
/** On a machine that does other things besides. */
const STEP_MS = 90_000

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'campaign'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
const baseUrl = String(values['base-url'])

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: String(values.username), password: String(values.password) })
  const { page, faults } = await openPage(browser, { width: 1280, scheme: 'dark', storageState })
  page.setDefaultTimeout(STEP_MS)
  await visit(page, new URL(`/campaigns/${values.campaign}`, baseUrl).href)
  for (const title of TITLES) console.log(`${title}: ${await saveChart(page, title)}`)
  assert.deepEqual(faults, [])
} finally {
  await browser.close()
}
