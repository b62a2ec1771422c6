/**
 * An open page whose server stops to answer and comes back. Prints a word when it is ready, then does one step for each line of
 * standard input and prints what the page shows:
 *   frozen  asks for something: prints `said` once the page says that it waits
 *   thawed  prints `gone` once it no longer says so
 *   away    asks for something, then for a page whose file is not loaded yet: prints how many places say that nothing answers,
 *           then `files_missing`, or `other` when the browser's own error page has come
 *   back    tries again: prints `agents` when that page is there
 *   node e2e/away.mjs --base-url URL --username U --password P --campaign ID
 */
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'campaign'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
const baseUrl = String(values['base-url'])

/** @typedef {import('playwright-core').Page} Page */
/** @type {Record<string, (page: Page) => Promise<string>>} */
const STEPS = {
  async frozen(page) {
    await page.getByRole('tab', { name: 'Statistics' }).click()
    await page.getByText('The server has not answered for some time').waitFor()
    return 'said'
  },
  async thawed(page) {
    await page.getByText('The server has not answered for some time').waitFor({ state: 'hidden' })
    return 'gone'
  },
  async away(page) {
    await page.getByText('No live connection').waitFor()
    // Everything that is shown is asked for again, as when somebody comes back to the window; it fails after two more tries.
    const lastTry = thirdFailure(page, `/campaigns/${values.campaign}`)
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
    await lastTry
    await page.getByRole('tab', { name: 'Runs' }).click() // drawn again, with what the tries ended in
    const places = await page.getByText(/No live connection|does not answer/).count()
    await page.getByRole('link', { name: 'Agents' }).click()
    const words = page.getByText('files_missing')
    await words.or(page.locator('#main-frame-error')).waitFor()
    return `${places} ${(await words.isVisible()) ? 'files_missing' : 'other'}`
  },
  async back(page) {
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    return 'agents'
  },
}

/**
 * @param {Page} page
 * @param {string} end
 */
async function thirdFailure(page, end) {
  for (let tries = 0; tries < 3; tries += 1) await page.waitForEvent('requestfailed', (request) => request.url().endsWith(end))
}

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: String(values.username), password: String(values.password) })
  const { page } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  const isStreamOpen = page.waitForResponse((answer) => answer.url().includes('/events'))
  await visit(page, new URL(`/campaigns/${values.campaign}`, baseUrl).href)
  await isStreamOpen
  console.log('ready')
  for await (const step of createInterface({ input: process.stdin })) console.log(await STEPS[step]?.(page))
} finally {
  await browser.close()
}
