/**
 * What a browser without a cache takes over the wire for each page: prints `bytes path`, one a line.
 *   node e2e/wire.mjs --base-url URL --username U --password P /campaigns /campaigns/ID …
 */
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(['base-url', 'username', 'password'].map((name) => [name, { type: /** @type {const} */ ('string') }])),
})
/** @param {string} name */
const value = (name) => String(values[name])

const browser = await launchBrowser()
try {
  const baseUrl = value('base-url')
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  for (const path of positionals) {
    const { context, page } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
    const wire = await context.newCDPSession(page)
    await wire.send('Network.enable')
    let byteCount = 0
    wire.on('Network.loadingFinished', ({ encodedDataLength }) => {
      byteCount += encodedDataLength
    })
    await visit(page, new URL(path, baseUrl).href)
    await page.waitForTimeout(1000)
    console.log(`${byteCount} ${path}`)
    await context.close()
  }
} finally {
  await browser.close()
}
