/**
 * Results read on a phone: from the list to a campaign's key figures, its differences, its files and one of its runs.
 *   node e2e/narrow.mjs --base-url URL --username U --password P --campaign NAME
 * Prints a line for each place. Ends with status 1, and says why, when something is not in sight or is not what the API says.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { columnFaults, openPage, overflowFaults, signIn, visit } from './checks.mjs'

/** @typedef {import('playwright-core').Locator} Locator */

const WIDTH = 390
/** On a machine that does other things besides. */
const STEP_MS = 90_000

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'campaign'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
const [baseUrl, username, password, campaign] = ['base-url', 'username', 'password', 'campaign'].map((name) => String(values[name]))

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl: String(baseUrl), username: String(username), password: String(password) })
  const { page, faults } = await openPage(browser, { width: WIDTH, scheme: 'light', storageState })
  page.setDefaultTimeout(STEP_MS)
  await visit(page, new URL('/agents', baseUrl).href)
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Campaigns' }).click()
  await page
    .getByRole('main')
    .getByRole('link')
    .filter({ hasText: String(campaign) })
    .click()
  const figures = page.getByRole('table', { name: 'Key figures per condition' })
  await figures.waitFor()
  const report = await (await page.request.get(`${new URL(page.url()).href.replace('/campaigns', '/api/v1/campaigns')}/report`)).json()
  for (const { condition, metrics } of report.groups) {
    const rate = (metrics.startup.throughput_bps.mean / 1e6).toPrecision(3)
    const cell = figures
      .getByRole('row')
      .filter({ hasText: condition })
      .getByRole('cell')
      .filter({ hasText: `${rate} (` })
    await seen(cell)
    console.log(`${condition}: ${rate} Mb/s`)
  }
  await turnTo('Statistics')
  const sentence = page.getByRole('listitem').filter({ hasText: /Mb\/s \(.*\), .* times/ })
  await seen(sentence)
  console.log(`difference: ${(await sentence.textContent())?.split(':')[0]}`)
  await turnTo('Downloads')
  const first = page.getByText(/^[\d,]+ rows, /).first()
  await seen(first)
  await first.click()
  const lines = page.getByRole('region', { name: 'First lines of summary.csv' })
  assert.match((await lines.textContent()) ?? '', /^link,condition,flow,/)
  console.log(`summary.csv: ${await first.textContent()}`)
  await turnTo('Runs')
  await page
    .getByRole('table', { name: 'Runs' })
    .getByRole('link', { name: /, cycle 1$/ })
    .first()
    .click()
  await seen(page.getByRole('heading', { level: 1, name: /, cycle 1$/ }))
  await seen(page.getByRole('figure').filter({ hasText: 'Throughput' }).first())
  assert.deepEqual(faults, [])

  /** @param {string} name */
  async function turnTo(name) {
    assert.deepEqual([...(await overflowFaults(page)), ...(await columnFaults(page))], [])
    await page.getByRole('tab', { name, exact: true }).click()
  }
} finally {
  await browser.close()
}

/** It is there, and all of its width is within the window. @param {Locator} place */
async function seen(place) {
  await place.waitFor()
  await place.scrollIntoViewIfNeeded()
  const box = await place.boundingBox()
  assert.ok(box && box.x >= 0 && box.x + box.width <= WIDTH, `${place} is in sight`)
}
