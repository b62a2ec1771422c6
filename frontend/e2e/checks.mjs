import { AxeBuilder } from '@axe-core/playwright'

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Browser} Browser */

/** Both widths; a brief page is seen in each width in one scheme, any other first in the light and then in the dark. */
export const LOOKS = /** @type {const} */ ([
  { width: 1280, briefly: 'light' },
  { width: 390, briefly: 'dark' },
])
const HEIGHT = { 1280: 800, 390: 844 }

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Those of axe's rules with these tags that read colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * A fresh page that collects what goes wrong in it: script errors, console errors, refusals by the security policy.
 * @param {Browser} browser
 * @param {{width: 1280 | 390, scheme?: 'light' | 'dark', storageState?: any}} look
 */
export async function openPage(browser, { width, scheme = 'light', storageState }) {
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
 * Change the colour scheme of what is open, as a system does in the evening: the page follows without being loaded again.
 * @param {Page} page
 * @param {'light' | 'dark'} scheme
 */
async function recolour(page, scheme) {
  await page.emulateMedia({ colorScheme: scheme })
  await page.waitForFunction((wanted) => (document.documentElement.dataset.mantineColorScheme ?? wanted) === wanted, scheme)
}

/**
 * WCAG 2.2 A and AA by axe, as readable lines. The legacy mode leaves out frames, of which we have none, and with them
 * a blank page per call; selectors are made of violations only. Together that halves the time.
 * @param {Page} page
 * @param {boolean} [isRecoloured] true: by the rules about colours alone
 */
export async function accessibilityFaults(page, isRecoloured = false) {
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode()
  const { violations } = await (isRecoloured ? axe.withRules(COLOUR_RULES) : axe.withTags(TAGS)).analyze()
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
  const wide = scrollWidth > clientWidth ? [`overflow: the page is ${scrollWidth} px wide in a window of ${clientWidth} px`] : []
  return [...wide, ...(await page.evaluate(cutButtons)).map((words) => `cut: the button "${words}" does not show its words`)]
}

/** In the page: the words of buttons that end before their words do. */
function cutButtons() {
  const isCut = (/** @type {Element} */ element) =>
    getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
  return [...document.querySelectorAll('button')]
    .filter((button) => [button, ...button.querySelectorAll('*')].some(isCut))
    .map(({ textContent }) => textContent?.trim() ?? '')
}

/**
 * On a phone each table shows the column that matters without a scroll: the one that its place names in data-matters, else
 * the first beside the row's head. It must end within the table's place, and not lie below the head, which stays while the rest scrolls.
 * @param {Page} page
 */
export async function columnFaults(page) {
  return (await page.evaluate(hiddenColumns)).map((fault) => `column: ${fault}`)
}

/** In the page: each table whose column that matters is not in sight, with how far it is off. */
function hiddenColumns() {
  /** @param {Element} cell */
  const textBox = (cell) => {
    const range = document.createRange()
    range.selectNodeContents(cell)
    return range.getBoundingClientRect()
  }
  /** @param {Element} element what it scrolls in, or else the window */
  const placeOf = (element) => {
    for (let own = element.parentElement; own && own !== document.body; own = own.parentElement)
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(own).overflowX)) return own.getBoundingClientRect()
    return document.documentElement.getBoundingClientRect()
  }
  /** @param {HTMLTableElement} table */
  const faultOf = (table) => {
    const heads = [...(table.querySelector('thead tr')?.children ?? [])].map((cell) => cell.textContent?.trim() ?? '')
    const wanted = table.closest('[data-matters]')?.getAttribute('data-matters')
    const name = table.closest('[aria-label]')?.getAttribute('aria-label') ?? table.caption?.textContent ?? heads.join(', ')
    const column = wanted ? heads.indexOf(wanted) : 1
    if (column < 0) return [`${name}: no column is called ${wanted}`]
    const place = placeOf(table)
    for (const row of table.querySelectorAll('tbody tr')) {
      const [head, cell] = [row.children[0], row.children[column]]
      if (!head || !cell?.textContent?.trim() || cell.getBoundingClientRect().width === 0) continue
      const [own, fixed] = [textBox(cell), head.getBoundingClientRect()]
      const isBeside = getComputedStyle(head).position === 'sticky' && own.top < fixed.bottom && fixed.top < own.bottom
      const over = Math.round(Math.max(own.right - place.right, place.left - own.left, isBeside ? fixed.right - own.left : 0))
      if (over > 1) return [`${name}: “${heads[column] ?? column + 1}” is ${over} px out of sight`]
    }
    return []
  }
  return [...document.querySelectorAll('table')].filter((table) => table.checkVisibility()).flatMap(faultOf)
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
  const window = page.viewportSize() ?? { width: 1280, height: HEIGHT[1280] }
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  await page.setViewportSize({ ...window, height })
  await page.screenshot({ path })
  await page.setViewportSize(window)
}

/**
 * All checks of what is found at a URL, in each of the schemes; for each, what is wrong, nothing when it is well. The page is loaded
 * in the first scheme and turns to the others as it is: there is nothing new in them but colours. The same open page serves for one
 * URL after the other: a browser process of its own for each would take twice as long.
 * @param {Awaited<ReturnType<typeof openPage>>} opened
 * @param {{url: string, schemes: ('light' | 'dark')[], prepare?: (page: Page) => Promise<void>, shotOf?: (scheme: string) => string}} options
 * @returns {Promise<{scheme: string, wrong: string[]}[]>}
 */
export async function checkPage({ page, faults }, { url, schemes: [first = 'light', ...others], prepare, shotOf }) {
  await page.emulateMedia({ colorScheme: first })
  try {
    await visit(page, url)
    await prepare?.(page)
  } catch (error) {
    faults.push(`never ready: ${error instanceof Error ? error.message : error}`)
  }
  const found = []
  for (const scheme of [first, ...others]) {
    if (scheme !== first) await recolour(page, scheme)
    if (shotOf) await takeShot(page, shotOf(scheme))
    const columns = page.viewportSize()?.width === 390 ? await columnFaults(page) : []
    const wrong = [...(await overflowFaults(page)), ...columns, ...(await accessibilityFaults(page, scheme !== first))]
    found.push({ scheme, wrong: [...wrong, ...faults.splice(0)] })
  }
  return found
}
