/**
 * Two tabs that somebody left open, the campaign list and one campaign, for as long as standard input stays open.
 *   node e2e/tabs.mjs --base-url URL --username U --password P --campaign ID [--every-s 5]
 * Prints one JSON line per interval and tab: {tab, requests, heap_bytes}. heap_bytes is what scripts hold after a collection.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const text = /** @type {const} */ ({ type: 'string' })
const { values } = parseArgs({
  options: { 'base-url': text, username: text, password: text, campaign: text, 'every-s': { ...text, default: '5' } },
})
const baseUrl = String(values['base-url'])
const account = { baseUrl, username: String(values.username), password: String(values.password) }
let isWanted = true
process.stdin.on('end', () => {
  isWanted = false
})
process.stdin.resume()

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, account)
  const tabs = await Promise.all(['/campaigns', `/campaigns/${values.campaign}`].map((path) => openTab(path, storageState)))
  while (isWanted) {
    await sleep(Number(values['every-s']) * 1000)
    for (const tab of tabs) console.log(JSON.stringify(await tab.read()))
  }
} finally {
  await browser.close()
}

/**
 * @param {string} path
 * @param {any} storageState
 */
async function openTab(path, storageState) {
  const { page, context } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  await visit(page, new URL(path, baseUrl).href)
  const devtools = await context.newCDPSession(page)
  await devtools.send('Performance.enable')
  let requests = 0
  page.on('request', () => {
    requests += 1
  })
  return {
    async read() {
      await devtools.send('HeapProfiler.collectGarbage')
      const { metrics } = await devtools.send('Performance.getMetrics')
      const counted = requests
      requests = 0
      return { tab: path, requests: counted, heap_bytes: metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0 }
    },
  }
}
