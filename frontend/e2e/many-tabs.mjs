/**
 * Many tabs of one browser on a campaign under way: all show its progress over one stream, and requests still find a connection.
 *   node e2e/many-tabs.mjs --base-url URL --username U --password P --campaign ID --tabs 8
 * Prints how many streams are open, and goes on by what standard input says, a line at a time:
 *   see WORDS   waits until every tab shows the words, and prints how many do
 *   ask         every tab asks the server at once; prints how many were answered
 *   close       closes the tab that holds the stream; prints how many tabs are left
 */
import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const STEP_MS = 90_000
const text = /** @type {const} */ ({ type: 'string' })
const { values } = parseArgs({ options: { 'base-url': text, username: text, password: text, campaign: text, tabs: text } })
const baseUrl = String(values['base-url'])
const address = new URL(`/campaigns/${values.campaign}`, baseUrl).href

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: String(values.username), password: String(values.password) })
  const { context, page, faults } = await openPage(browser, { width: 1280, storageState })
  /** @type {Set<import('playwright-core').Page>} of tabs that hold a stream */
  const streaming = new Set()
  const isStream = (/** @type {import('playwright-core').Request} */ request) => new URL(request.url()).pathname.endsWith('/events')
  context.on('request', (request) => isStream(request) && streaming.add(request.frame().page()))
  let tabs = [page]
  while (tabs.length < Number(values.tabs)) tabs.push(await context.newPage())
  for (const tab of tabs) {
    tab.setDefaultTimeout(STEP_MS)
    await visit(tab, address)
    await tab.getByText(/ carried; the plan comes to /).waitFor()
  }
  console.log(`${streaming.size} of ${tabs.length} tabs hold a stream`)
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, ...rest] = line.split(' ')
    if (verb === 'see') await Promise.all(tabs.map((tab) => tab.getByText(rest.join(' ')).waitFor()))
    if (verb === 'ask') await Promise.all(tabs.map(ask))
    if (verb === 'close') tabs = await withoutReader(tabs)
    console.log(tabs.length)
  }
  assert.deepEqual(faults, [])

  /** @param {import('playwright-core').Page[]} open */
  async function withoutReader(open) {
    const reader = open.find((tab) => streaming.has(tab))
    assert(reader, 'no tab holds a stream')
    const next = context.waitForEvent('request', { predicate: isStream, timeout: STEP_MS })
    await reader.close()
    streaming.delete(reader)
    await next
    return open.filter((tab) => tab !== reader)
  }
} finally {
  await browser.close()
}

/** @param {import('playwright-core').Page} tab */
async function ask(tab) {
  const status = await tab.evaluate(() => fetch('/api/v1/session', { cache: 'no-store' }).then((answer) => answer.status))
  assert.equal(status, 200)
}
