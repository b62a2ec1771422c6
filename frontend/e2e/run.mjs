/**
 * Checks every page of a running Downlink at both widths in both colour schemes (brief ones in one scheme of each width): accessibility, overflow, script errors.
 *   node e2e/run.mjs --base-url http://127.0.0.1:8000 [--username U --password P] [--shots DIR] [--only NAME]
 * Ends with status 1 when a page has a fault.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { checkPage, LOOKS, openPage, signIn } from './checks.mjs'
import { findPages } from './pages.mjs'

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    username: { type: 'string' },
    password: { type: 'string' },
    shots: { type: 'string' },
    only: { type: 'string' },
  },
})
const baseUrl = values['base-url']
if (!baseUrl) throw new Error('say where: --base-url http://127.0.0.1:8000')
if (values.shots) await mkdir(values.shots, { recursive: true })

const browser = await launchBrowser()
let faultCount = 0
try {
  const { username, password } = values
  const storageState = username && password ? await signIn(browser, { baseUrl, username, password }) : undefined
  const pages = (await findPages(browser, { baseUrl, storageState })).filter(({ name }) => !values.only || name.includes(values.only))
  // Two at a time: a page is read by a process of its own, and its checks take processor time.
  await Promise.all(LOOKS.map((look) => checkAll(look, pages, storageState)))
} finally {
  await browser.close()
}
/**
 * @param {typeof LOOKS[number]} look
 * @param {import('./pages.mjs').PageCase[]} pages
 * @param {any} storageState
 */
async function checkAll({ width, briefly }, pages, storageState) {
  const opened = await openPage(browser, { width, storageState })
  for (const { name, path, prepare, isBrief } of pages) {
    /** @param {string} scheme */
    const shotOf = (scheme) => join(String(values.shots), `${name}-${scheme}-${width}.png`)
    const looked = await checkPage(opened, {
      url: new URL(path, baseUrl).href,
      schemes: isBrief ? [briefly] : ['light', 'dark'],
      prepare,
      shotOf: values.shots ? shotOf : undefined,
    })
    for (const { scheme, wrong } of looked) {
      console.log(`${wrong.length === 0 ? 'ok   ' : 'FAULT'} ${name} ${scheme} ${width}`)
      for (const fault of wrong) console.log(`      ${fault}`)
      faultCount += wrong.length
    }
  }
  await opened.context.close()
}

process.exitCode = faultCount === 0 ? 0 : 1
