/**
 * One open page on which nothing happens: prints `idle` once it is there, then the addresses that it asks for in that time, one a line.
 *   node e2e/idle.mjs --base-url URL --username U --password P --path /campaigns --seconds 15
 */
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'path', 'seconds'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
/** What a visit asks for last, such as the parts of pages that are fetched ahead, is no cost of an idle page. */
const SETTLED_MS = 3000
/** On a machine that does other things besides. */
const STEP_MS = 90_000

/** @param {string} name */
const value = (name) => String(values[name])

const browser = await launchBrowser()
try {
  const baseUrl = value('base-url')
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  const { page } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  page.setDefaultTimeout(STEP_MS)
  const isStreamOpen = page.waitForResponse((answer) => answer.url().includes('/events'))
  await visit(page, new URL(value('path'), baseUrl).href)
  await isStreamOpen
  await page.waitForTimeout(SETTLED_MS)
  console.log('idle')
  page.on('request', (request) => console.log(new URL(request.url()).pathname))
  await page.waitForTimeout(Number(value('seconds')) * 1000)
} finally {
  await browser.close()
}
