/**
 * One open page on which nothing happens: prints the addresses that it asks for in that time, one a line.
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
/** @param {string} name */
const value = (name) => String(values[name])

const browser = await launchBrowser()
try {
  const baseUrl = value('base-url')
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  const { page } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  const isStreamOpen = page.waitForResponse((answer) => answer.url().includes('/events'))
  await visit(page, new URL(value('path'), baseUrl).href)
  await isStreamOpen
  /** @type {string[]} */
  const asked = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.waitForTimeout(Number(value('seconds')) * 1000)
  for (const path of asked) console.log(path)
} finally {
  await browser.close()
}
