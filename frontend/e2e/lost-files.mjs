/**
 * An open page whose server gets a newer dashboard: --before is the folder that it serves, --after the one that comes in its place.
 * Prints what happens on the way to the agents page: `loaded` for each time that the page is loaded, then what it shows.
 *   node e2e/lost-files.mjs --base-url URL --username U --password P --served DIR --after DIR
 */
import { cp, rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'served', 'after'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
/** @param {string} name */
const value = (name) => String(values[name])

const browser = await launchBrowser()
try {
  const baseUrl = value('base-url')
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  const { page } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  await visit(page, new URL('/campaigns', baseUrl).href)
  await rm(`${value('served')}/assets`, { recursive: true })
  await cp(value('after'), value('served'), { recursive: true })
  page.on('load', () => console.log('loaded'))
  await page.getByRole('link', { name: 'Agents' }).click()
  const agents = page.getByRole('heading', { name: 'Agents', level: 1 })
  const words = page.getByText('files_missing')
  await agents.or(words).first().waitFor()
  await page.waitForTimeout(1500) // a page that loads itself again and again would do so now
  console.log((await agents.isVisible()) ? 'agents' : (await words.isVisible()) ? 'files_missing' : 'something else')
} finally {
  await browser.close()
}
