import { AxeBuilder } from '@axe-core/playwright'

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Browser} Browser */

const WIDTHS = /** @type {const} */ ([1280, 390])
const SCHEMES = /** @type {const} */ (['light', 'dark'])
/** Each width and each scheme once. */
export const BRIEF_LOOKS = /** @type {const} */ ([
  [1280, 'light'],
  [390, 'dark'],
])
export const ALL_LOOKS = WIDTHS.flatMap((width) => SCHEMES.map((scheme) => /** @type {const} */ ([width, scheme])))
const HEIGHT = { 1280: 800, 390: 844 }

/**
 * A fresh page that collects what goes wrong in it: script errors, console errors, refusals by the security policy.
 * @param {Browser} browser
 * @param {{width: 1280 | 390, scheme: 'light' | 'dark', storageState?: any}} look
 */
export async function openPage(browser, { width, scheme, storageState }) {
  const context = await browser.newContext({
    viewport: { width, height: HEIGHT[width] },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    storageState,
  })
  const page = await context.newPage()
  /** @type {string[]} */
  const faults = []
  page.on('pageerror', (error) => faults.push(`script error: ${error.message}`))
  page.on('console', (message) => {
    // A 404 or 401 that the page handles is logged by the browser all the same.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(`console: ${message.text()}`)
  })
  return { context, page, faults }
}

/**
 * Go there and wait until nothing is loading any more.
 * @param {Page} page
 * @param {string} url
 */
export async function visit(page, url) {
  await page.goto(url)
  await page.getByRole('main').waitFor()
  await page.waitForFunction(() => document.querySelector('[role=status][aria-label=Loading]') === null)
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
}

/**
 * WCAG 2.2 A and AA by axe, as readable lines.
 * @param {Page} page
 */
export async function accessibilityFaults(page) {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze()
  return violations.flatMap((rule) => rule.nodes.map((node) => `axe ${rule.id}: ${node.target.join(' ')} (${rule.help})`))
}

/**
 * The page itself never scrolls sideways; tables scroll inside.
 * @param {Page} page
 */
export async function overflowFaults(page) {
  const { scrollWidth, clientWidth } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    clientWidth: document.documentElement.clientWidth,
  }))
  return scrollWidth > clientWidth ? [`overflow: the page is ${scrollWidth} px wide in a window of ${clientWidth} px`] : []
}

/**
 * Sign in through the page and give the cookies for further pages.
 * @param {Browser} browser
 * @param {{baseUrl: string, username: string, password: string}} account
 */
export async function signIn(browser, { baseUrl, username, password }) {
  const { context, page } = await openPage(browser, { width: 1280, scheme: 'light' })
  await page.goto(new URL('/login', baseUrl).href)
  await page.getByLabel('User name').fill(username)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/campaigns')
  const state = await context.storageState()
  await context.close()
  return state
}

/**
 * The whole page as a picture. The window is made as tall as the page: a full-page capture would redraw charts at a passing size.
 * @param {Page} page
 * @param {string} path
 */
export async function takeShot(page, path) {
  const width = page.viewportSize()?.width ?? 1280
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  await page.setViewportSize({ width, height })
  await page.screenshot({ path })
}

/**
 * All checks of one page in one look; returns what is wrong, nothing when it is well.
 * @param {Browser} browser
 * @param {{url: string, width: 1280 | 390, scheme: 'light' | 'dark', storageState?: any, shot?: string, prepare?: (page: Page) => Promise<void>}} options
 */
export async function checkPage(browser, { url, width, scheme, storageState, shot, prepare }) {
  const { context, page, faults } = await openPage(browser, { width, scheme, storageState })
  try {
    await visit(page, url)
    await prepare?.(page)
    if (shot) await takeShot(page, shot)
    return [...faults, ...(await overflowFaults(page)), ...(await accessibilityFaults(page))]
  } finally {
    await context.close()
  }
}
