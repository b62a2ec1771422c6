/**
 * One whole task without a mouse: sign in, find a campaign, open one of its runs, and save that run's figure.
 *   node e2e/keyboard.mjs --base-url URL --username U --password P --campaign NAME
 * Prints how often Tab was pressed on the way to each thing. Ends with status 1, and says why, when a step fails.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage } from './checks.mjs'

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Locator} Locator */

const MOST_STEPS = 60
/** On a machine that does other things besides. */
const STEP_MS = 90_000

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'campaign'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
/** @param {string} name */
const value = (name) => String(values[name])

const browser = await launchBrowser()
try {
  const { page, faults } = await openPage(browser, { width: 1280, scheme: 'light' })
  page.setDefaultTimeout(STEP_MS)
  await page.goto(new URL('/login', value('base-url')).href)
  await signIn(page)
  await follow(
    page,
    page
      .getByRole('main')
      .getByRole('link')
      .filter({ hasText: value('campaign') }),
  )
  await turnTo(page, 'Runs')
  await follow(
    page,
    page
      .getByRole('table', { name: 'Runs' })
      .getByRole('link', { name: /, cycle 1$/ })
      .first(),
  )
  await page.getByRole('heading', { level: 1, name: /, cycle 1$/ }).waitFor()
  await saveFigure(page)
  assert.deepEqual(faults, [])
} finally {
  await browser.close()
}

/** @param {Page} page */
async function signIn(page) {
  await tabTo(page, page.getByLabel('User name'))
  await page.keyboard.type(value('username'))
  await tabTo(page, page.getByRole('textbox', { name: 'Password' }))
  await page.keyboard.type(value('password'))
  await page.keyboard.press('Enter')
  await page.waitForURL('**/campaigns')
}

/** @param {Page} page @param {Locator} link */
async function follow(page, link) {
  await tabTo(page, link)
  const before = page.url()
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.href !== before)
}

/** Tabs are one stop; the arrows go among them. @param {Page} page @param {string} name */
async function turnTo(page, name) {
  await tabTo(page, page.getByRole('tab', { selected: true }))
  const wanted = page.getByRole('tab', { name, exact: true })
  for (let step = 0; step < 12 && !(await isFocused(wanted)); step++) await page.keyboard.press('ArrowRight')
  await page.getByRole('tab', { name, exact: true, selected: true }).waitFor()
}

/** The menu opens with a key, the arrows go along it, and Escape leaves it where it was opened. @param {Page} page */
async function saveFigure(page) {
  const button = page.getByRole('button', { name: 'Save the whole stack' })
  await tabTo(page, button)
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menuitem').first().waitFor({ state: 'hidden' })
  assert.ok(await isFocused(button), 'Escape gives the focus back')
  await page.keyboard.press('Enter')
  const wanted = page.getByRole('menuitem', { name: 'SVG, double column (183 mm)' })
  await wanted.waitFor()
  for (let step = 0; step < 6 && !(await isFocused(wanted)); step++) await page.keyboard.press('ArrowDown')
  assert.ok(await isFocused(wanted), 'the arrows reach the choice')
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
  assert.match(file.suggestedFilename(), /\.svg$/)
  assert.match(await readFile(await file.path(), 'utf8'), /<svg [^>]*width="183mm"/)
}

/**
 * Tab until it has the focus; each stop on the way can be seen to have it.
 * @param {Page} page
 * @param {Locator} target
 */
async function tabTo(page, target) {
  await target.waitFor()
  let steps = 0
  for (; !(await isFocused(target)); steps++) {
    assert.ok(steps < MOST_STEPS, `${MOST_STEPS} times Tab do not lead to ${target}`)
    await page.keyboard.press('Tab')
    const unseen = await page.evaluate(unseenFocus)
    assert.equal(unseen, null, 'what has the focus looks like it')
  }
  console.log(`${steps} to ${target}`)
}

/** @param {Locator} target */
function isFocused(target) {
  return target.evaluate((element) => element === document.activeElement)
}

/** In the page: the element that has the focus, as text, when nothing is drawn around it or around what it is in. A field has its caret. */
function unseenFocus() {
  const focused = document.activeElement
  if (!focused || focused === document.body || focused.matches('input, textarea')) return null
  const isSeen = [focused, focused.parentElement].some((element) => {
    if (!element) return false
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
    return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none'
  })
  return isSeen ? null : focused.outerHTML.slice(0, 300)
}
