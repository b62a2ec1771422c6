/**
 * A first visit to a running Downlink, as a researcher makes it: set up the admin, sign in, start a campaign from a file,
 * watch it live without a reload, look at the plots, print the report, share it and revoke that, download the CSV, compare it with a campaign of another tool's file.
 *   node e2e/journey.mjs --setup-link URL --username U --password P --campaign FILE --download FILE --other FILE
 * Ends with status 1, and says why, when a step fails or a page reports a fault.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'
import { compareTwoCampaigns } from './comparing.mjs'
import { saveStack } from './saving.mjs'
import { printReport, shareCampaign } from './sharing.mjs'

const STEP_MS = 30_000
const CAMPAIGN_MS = 120_000
const TITLES = ['Throughput', 'RTT', 'Receive window', 'Congestion window', 'Retransmissions']

const { values } = parseArgs({
  options: Object.fromEntries(
    ['setup-link', 'username', 'password', 'campaign', 'download', 'other'].map((name) => [
      name,
      { type: /** @type {const} */ ('string') },
    ]),
  ),
})
/** @param {string} name */
const value = (name) => String(values[name])
const baseUrl = new URL(value('setup-link')).origin
const account = { baseUrl, username: value('username'), password: value('password') }

const browser = await launchBrowser()
try {
  await setUp()
  const { page, faults } = await openPage(browser, { width: 1280, scheme: 'light', storageState: await signIn(browser, account) })
  page.setDefaultTimeout(STEP_MS)
  await startCampaign(page)
  await watch(page)
  await seePlots(page)
  await saveStack(page, TITLES)
  await printReport(page)
  await shareCampaign(page, browser)
  await download(page)
  await compareTwoCampaigns(page, value('other'))
  assert.deepEqual(faults, [])
} finally {
  await browser.close()
}

/** Make the admin; the link works once. */
async function setUp() {
  const { context, page, faults } = await openPage(browser, { width: 1280, scheme: 'light' })
  page.setDefaultTimeout(STEP_MS)
  await page.goto(value('setup-link'))
  await page.getByLabel('User name').fill(account.username)
  const passwords = page.locator('input[type=password]')
  await passwords.nth(0).fill(account.password)
  await passwords.nth(1).fill(account.password)
  await page.getByRole('button', { name: 'Make the account' }).click()
  await page.waitForURL('**/campaigns')
  assert.ok(!page.url().includes('#'), 'the token must leave the address')
  await page.goto(value('setup-link'))
  await page.getByText('Set-up is done').waitFor()
  assert.deepEqual(faults, [])
  await context.close()
}

/** From a template over the form to the text and back, and then the file of this test. @param {import('playwright-core').Page} page */
async function startCampaign(page) {
  await visit(page, new URL('/campaigns/new', baseUrl).href)
  await page.getByRole('link', { name: /^HyStart on and off/ }).click()
  await page.getByRole('textbox', { name: 'Cycles', exact: true }).fill('7')
  await page.getByText('7 cycles').first().waitFor()
  await showAs(page, 'YAML')
  const file = page.getByRole('textbox', { name: 'Campaign file' })
  await file.getByText('cycles: 7').waitFor()
  await file.fill(await readFile(value('campaign'), 'utf8'))
  await showAs(page, 'Form')
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'In the browser')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.getByRole('button', { name: 'Save and launch' }).click()
  await page.getByRole('dialog', { name: 'Launch this campaign?' }).getByRole('button', { name: 'Launch' }).click()
  await page.waitForURL(/\/campaigns\/[0-9a-f-]{36}/)
}

/** @param {import('playwright-core').Page} page @param {string} view */
async function showAs(page, view) {
  await page.getByRole('radiogroup', { name: 'View of the campaign file' }).getByText(view).click()
}

/** The same document, never loaded again, tells of every run until all are done. @param {import('playwright-core').Page} page */
async function watch(page) {
  const progress = page.getByRole('region', { name: 'Progress' })
  await page.evaluate(() => document.body.setAttribute('data-journey', 'same document'))
  await progress.getByText(/^0 of \d+ runs? complete/).waitFor()
  await progress.getByText('running').first().waitFor({ timeout: CAMPAIGN_MS })
  const flow = progress.getByRole('list', { name: 'Flows now' }).getByRole('listitem')
  await flow.filter({ hasText: /[\d.]+ .?b\/s.*RTT \d.* ms.*cwnd [\d.]+ / }).waitFor({ timeout: CAMPAIGN_MS })
  await progress.getByText(/^[1-9]\d* of \d+ runs? complete/).waitFor({ timeout: CAMPAIGN_MS })
  await progress.getByText(/^(\d+) of \1 runs? complete/).waitFor({ timeout: CAMPAIGN_MS })
  assert.equal(await page.evaluate(() => document.body.getAttribute('data-journey')), 'same document')
}

/** Five panels, one above the other, each with a mean line and the two runs per condition, and n beside the numbers. @param {import('playwright-core').Page} page */
async function seePlots(page) {
  for (const title of TITLES) {
    const figure = page.getByRole('figure').filter({ hasText: title }).first()
    // A mean of each condition, and its two runs one by one, once the report has the second cycle.
    await figure
      .locator('svg path.recharts-line-curve')
      .nth(2 + 2 * 2 - 1)
      .waitFor()
  }
  await page.getByRole('button', { name: 'Show the numbers behind Throughput' }).click()
  await page.getByText('n=2').first().waitFor()
}

/** @param {import('playwright-core').Page} page */
async function download(page) {
  await page.getByRole('tab', { name: 'Downloads' }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download summary.csv' }).click()])
  await file.saveAs(value('download'))
}
