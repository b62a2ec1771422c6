/**
 * Text that people or agents stored, on the pages that show it: it is read as text, and nothing in it runs.
 *   node e2e/stored.mjs --base-url URL --username U --password P [--text TEXT ...] [--places JSON]
 * Each text is the name of a campaign. Places are pairs of a path and of what is to be shown there, or null.
 * Prints a line for each place. Ends with status 1, and says why, when a text runs or is not shown.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const STEP_MS = 60_000
const TABS = ['results', 'day', 'runs']
const AROUND = ['/campaigns', '/calendar', '/compare', '/tokens', '/people', '/notifications', '/links']

const text = /** @type {const} */ ({ type: 'string' })
const { values } = parseArgs({
  options: { 'base-url': text, username: text, password: text, text: { type: 'string', multiple: true }, places: text },
})
const baseUrl = String(values['base-url'])
const texts = values.text ?? []
/** @type {[path: string, words: string | null][]} */
const places = JSON.parse(values.places ?? '[]')
assert(texts.length + places.length > 0, 'say which texts: --text TEXT or --places JSON')

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: String(values.username), password: String(values.password) })
  const { page, faults } = await openPage(browser, { width: 1280, scheme: 'light', storageState })
  page.setDefaultTimeout(STEP_MS)
  page.on('dialog', (dialog) => {
    faults.push(`a dialog says ${dialog.message()}`)
    void dialog.dismiss()
  })
  const { items } = await (await page.request.get(new URL('/api/v1/campaigns', baseUrl).href)).json()
  /** @param {string} path @param {string} [words] to be shown there */
  const look = async (path, words) => {
    await visit(page, new URL(path, baseUrl).href)
    // What lies in a list that is not opened yet is opened: it is made of stored text, too.
    for (const closed of await page.locator('details:not([open]) > summary').all()) if (await closed.isVisible()) await closed.click()
    if (words !== undefined) await page.getByText(words).first().waitFor()
    const madeOfText = await page.evaluate(
      () => document.querySelectorAll('[onerror], [onload], [srcdoc], [href^="javascript:" i], [src="x"]').length,
    )
    assert.equal(madeOfText, 0, `${path}: an element is made of text that somebody stored`)
    assert.deepEqual(faults.splice(0), [], path)
    console.log(path)
  }
  for (const words of texts) {
    const campaign = items.find((/** @type {any} */ { name }) => name === words)
    assert(campaign, `no campaign is called ${words}`)
    for (const tab of TABS) await look(`/campaigns/${campaign.id}?tab=${tab}`, words)
    await look(`/campaigns/${campaign.id}/report`, words)
  }
  for (const [path, words] of places) await look(path, words ?? undefined)
  if (texts.length > 0) for (const path of AROUND) await look(path)
} finally {
  await browser.close()
}
