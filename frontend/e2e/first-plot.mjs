/**
 * How long a browser without a cache takes to the first chart of a page over a link as those that are measured: 600 ms and 20 Mb/s.
 *   node e2e/first-plot.mjs --base-url URL --username U --password P --path /campaigns/ID [--times 3] [--latency-ms 600] [--rate-mbps 20] [--list]
 * Prints one JSON line a visit: {seconds, script_kb, style_kb, requests, text_s, pipe_s}, all until the chart was there. text_s: until the
 * page had a heading. pipe_s: what the same bytes and two ways there and back take of the link. --list names the files as well.
 */
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn } from './checks.mjs'

const text = /** @type {const} */ ({ type: 'string' })
const { values } = parseArgs({
  options: {
    'base-url': text,
    username: text,
    password: text,
    path: text,
    times: { ...text, default: '3' },
    'latency-ms': { ...text, default: '600' },
    'rate-mbps': { ...text, default: '20' },
    list: { type: 'boolean' },
  },
})
const baseUrl = String(values['base-url'])
const PATIENCE_MS = 90_000

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: String(values.username), password: String(values.password) })
  for (let time = 0; time < Number(values.times); time++) console.log(JSON.stringify(await visitCold(storageState)))
} finally {
  await browser.close()
}

/** @param {any} storageState */
async function visitCold(storageState) {
  const { context, page } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  const throughput = (Number(values['rate-mbps']) * 1e6) / 8
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: Number(values['latency-ms']),
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  })
  /** @type {Map<string, {type: string, url: string, at: number, bytes: number}>} */
  const files = new Map()
  const began = performance.now()
  devtools.on('Network.responseReceived', ({ requestId, type, response }) => {
    files.set(requestId, { type, url: response.url, at: Math.round(performance.now() - began), bytes: 0 })
  })
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const file = files.get(requestId)
    if (file) file.bytes = encodedDataLength
  })
  await page.goto(new URL(String(values.path), baseUrl).href, { waitUntil: 'commit' })
  await page.locator('h1').first().waitFor({ timeout: PATIENCE_MS })
  const text_s = (performance.now() - began) / 1000
  await page.locator('svg path.recharts-line-curve').first().waitFor({ timeout: PATIENCE_MS })
  const seconds = (performance.now() - began) / 1000
  const all = [...files.values()]
  await context.close()
  if (values.list) for (const { at, type, url, bytes } of all) console.error(`${at} ms ${type} ${bytes} ${new URL(url).pathname}`)
  const pipe_s = (2 * Number(values['latency-ms'])) / 1000 + all.reduce((sum, { bytes }) => sum + bytes, 0) / throughput
  /** @param {string} kind */
  const kilobytes = (kind) => all.filter(({ type }) => type === kind).reduce((sum, { bytes }) => sum + bytes, 0) / 1000
  return { seconds, script_kb: kilobytes('Script'), style_kb: kilobytes('Stylesheet'), requests: all.length, text_s, pipe_s }
}
