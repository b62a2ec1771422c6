/**
 * Zooms into a run's samples until single ones are drawn, by mouse and by keys, and compares them with the trace; Back undoes each zoom.
 *   node e2e/samples.mjs --base-url URL --username U --password P --run ID
 * Prints what the first panel says at each step. Ends with status 1, and says why, when a step fails.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(['base-url', 'username', 'password', 'run'].map((name) => [name, { type: /** @type {const} */ ('string') }])),
})
/** @param {string} name */
const value = (name) => String(values[name])
const baseUrl = value('base-url')
const FIELD = 'acked_bytes'

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  const { page, faults } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  await visit(
    page,
    new URL(`/runs/${value('run')}?tab=raw&fields=${encodeURIComponent(JSON.stringify([`sender.${FIELD}`]))}`, baseUrl).href,
  )
  const panel = page.getByRole('figure').filter({ hasText: FIELD })
  const count = async () =>
    (await panel.locator('figcaption').textContent())?.match(/(every sample: [\d,]+|[\d,]+ of [\d,]+ samples, min-max)/)?.[0]
  await panel.getByText(/ samples, min-max/).waitFor()
  console.log(await count())

  const whole = page.url()
  await drag(page, panel)
  await page.waitForURL(/from_s=/)
  const dragged = page.url()
  await page.getByRole('group', { name: 'Charts of samples' }).getByRole('slider', { name: 'Cursor' }).focus()
  await page.keyboard.press('ArrowRight')
  await panel.getByText(/^\d+\.\d{6} s: [\d,]+ bytes$/).waitFor()
  await zoomInTwice(page)
  await panel.getByText(/every sample: /).waitFor()
  console.log(await count())
  await compare(page, panel)
  for (let step = 0; step < 2; step++) await page.goBack()
  await page.waitForURL(dragged)
  await page.goBack()
  await page.waitForURL(whole)
  await panel.getByText(/ of 7,001 samples, min-max/).waitFor()
  console.log(await count())
  assert.deepEqual(faults, [])
} finally {
  await browser.close()
}

/** Over a fifth of the plot. @param {import('playwright-core').Page} page @param {import('playwright-core').Locator} panel */
async function drag(page, panel) {
  const plot = panel.locator('.u-over')
  await plot.hover() // brings it into view, and tries again when it is drawn again meanwhile
  const box = await plot.boundingBox()
  assert.ok(box)
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.4, y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.5, y)
  await page.mouse.move(box.x + box.width * 0.6, y)
  await page.mouse.up()
}

/** By its key, wherever the focus is among the charts; the second comes before the first is drawn. @param {import('playwright-core').Page} page */
async function zoomInTwice(page) {
  const length = (/** @type {URL} */ url) => Number(url.searchParams.get('to_s')) - Number(url.searchParams.get('from_s'))
  const before = length(new URL(page.url()))
  for (let step = 0; step < 2; step++) await page.keyboard.press('+')
  await page.waitForURL((url) => Math.abs(length(url) * 16 - before) < 1e-4)
}

/** The numbers behind the panel are the samples of the trace within the stretch, every one. @param {import('playwright-core').Page} page @param {import('playwright-core').Locator} panel */
async function compare(page, panel) {
  await panel.getByRole('button', { name: /^Show the numbers/ }).click()
  const drawn = await panel.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)))
  const [head = '', ...lines] = (await (await page.request.get(`${baseUrl}/api/v1/runs/${value('run')}/traces/1/sender.csv`)).text())
    .trim()
    .split('\r\n')
  const at = [head.split(',').indexOf('elapsed_us'), head.split(',').indexOf(FIELD)]
  const asked = new URL(page.url()).searchParams
  const [from_us, to_us] = [Number(asked.get('from_s')) * 1e6, Number(asked.get('to_s')) * 1e6]
  const trace = lines
    .map((line) => at.map((column) => Number(line.split(',')[column])))
    .filter(([time_us = 0]) => time_us >= Math.round(from_us) && time_us <= Math.round(to_us))
  assert.ok(trace.length > 10)
  assert.deepEqual(
    drawn.map(([time, bytes]) => [Math.round(Number(time) * 1e6), Number(bytes?.replaceAll(',', ''))]),
    trace,
  )
}
