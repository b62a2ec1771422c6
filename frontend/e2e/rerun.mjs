/**
 * A researcher finds out why a run failed and runs it again: from the list of campaigns to the reason, on the run's own page, and on to the new attempt.
 *   node e2e/rerun.mjs --base-url URL --username U --password P --campaign NAME
 * Prints the reason that the list shows, the one that the run's page shows, and how the new attempt ended. Ends with status 1, and says why, when a step fails.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

/** On a machine that does other things besides. */
const STEP_MS = 60_000
const RUN_MS = 120_000

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'campaign'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
/** @param {string} name */
const value = (name) => String(values[name])
const baseUrl = value('base-url')

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  const { page, faults } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  page.setDefaultTimeout(STEP_MS)
  await visit(page, new URL('/campaigns', baseUrl).href)
  const campaign = page
    .getByRole('main')
    .getByRole('link')
    .filter({ hasText: value('campaign') })
  await campaign.click()
  await openRuns(page)
  const failed = runRows(page).filter({ hasText: 'failed' })
  assert.equal(await failed.count(), 1)
  console.log(`the list: ${await failed.locator('[data-label=State]').textContent()}`.replaceAll('\n', ' '))
  await failed.getByRole('link').click()
  const reason = page.getByRole('main').getByRole('alert')
  console.log(`its page: ${await reason.textContent()}`.replaceAll('\n', ' '))
  await page.getByRole('button', { name: 'Run again', exact: true }).click()
  await page.getByText(/ · attempt 2 · /).waitFor()
  // Its mark is a part of the state's text.
  await page
    .getByText(/^\W*complete$/)
    .first()
    .waitFor({ timeout: RUN_MS })
  await page.getByRole('link', { name: value('campaign') }).click()
  await openRuns(page)
  // The list of before is shown until the new one is there.
  await runRows(page).filter({ hasText: 'attempt 2' }).waitFor()
  assert.equal(await failed.count(), 1, 'the run that failed stays in the list')
  assert.equal(await failed.getByRole('button', { name: /^Run again/ }).count(), 0, 'its place has a newer attempt')
  console.log(`the new attempt: ${await runRows(page).filter({ hasText: 'attempt 2' }).locator('[data-label=State]').textContent()}`)
  assert.deepEqual(faults, [])
} finally {
  await browser.close()
}

/** @param {import('playwright-core').Page} page */
async function openRuns(page) {
  await page.getByRole('tab', { name: 'Runs', exact: true }).click()
  await page.getByRole('table', { name: 'Runs' }).waitFor()
}

/** @param {import('playwright-core').Page} page */
function runRows(page) {
  return page.getByRole('table', { name: 'Runs' }).getByRole('row')
}
