/**
 * A campaign's report in a browser.
 *   node e2e/report.mjs --base-url URL --username U --password P --campaign ID
 * Prints the report's text once its last section is there. Ends with status 1 when the page has a script error.
 */
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'campaign'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
/** @param {string} name */
const value = (name) => String(values[name])
const baseUrl = value('base-url')
/** A machine may do much else at the same time. */
const STEP_MS = 180_000

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  const { page, faults } = await openPage(browser, { width: 1280, storageState })
  page.setDefaultTimeout(STEP_MS)
  await visit(page, new URL(`/campaigns/${value('campaign')}/report`, baseUrl).href)
  await page.getByRole('heading', { name: 'Limits of the study' }).waitFor()
  console.log(await page.locator('article').textContent())
  if (faults.length > 0) throw new Error(faults.join('\n'))
} finally {
  await browser.close()
}
