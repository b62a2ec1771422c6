/**
 * The pictures of docs/gallery: a stack of its own is filled with recorded campaigns, one more runs, and each page is taken in both
 * widths and both colour schemes.
 *   node e2e/gallery.mjs --into ../docs/gallery [--home FOLDER] [--only NAME,NAME] [--look dark-390] [--base-url URL --username U --password P]
 * With --base-url the pages of a stack that runs already are taken. Ends with status 1 when a page has a fault, or the folder too many bytes.
 */
import { mkdir, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, overflowFaults, signIn, visit } from './checks.mjs'
import { galleryPages } from './gallery-pages.mjs'
import { startStack } from './gallery-stack.mjs'
import { galleryText } from './gallery-text.mjs'

const MOST_BYTES = 7_000_000
const LOOKS = /** @type {const} */ ([
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
  { width: 390, scheme: 'dark' },
])
/** A picture ends there: what is below repeats what is above. */
const MOST_HEIGHT_PX = { 1280: 1100, 390: 1500 }
const QUALITY = 42

const text = /** @type {const} */ ({ type: 'string' })
const { values } = parseArgs({
  options: {
    into: text,
    home: text,
    only: text,
    look: text,
    'base-url': text,
    username: text,
    password: text,
  },
})
const into = String(values.into)
await mkdir(into, { recursive: true })

const stack = values['base-url']
  ? { baseUrl: values['base-url'], username: String(values.username), password: String(values.password), stop: async () => undefined }
  : await startStack(values.home ?? (await mkdtemp(join(tmpdir(), 'downlink-'))))
const browser = await launchBrowser()
let faultCount = 0
try {
  const storageState = await signIn(browser, stack)
  const pages = await galleryPages(browser, stack.baseUrl, storageState)
  const wanted = pages.filter(({ name }) => !values.only || values.only.split(',').includes(name))
  for (const look of LOOKS.filter(({ width, scheme }) => !values.look || values.look === `${scheme}-${width}`)) {
    // What is seen without an account has a context of its own; what moves is taken first.
    for (const isPublic of [false, true]) {
      const opened = await openPage(browser, { ...look, storageState: isPublic ? undefined : storageState })
      for (const page of wanted.filter((one) => Boolean(one.isPublic) === isPublic)) faultCount += await take(opened, page, look)
      await opened.context.close()
    }
  }
  if (!values.only && !values.look) await writeFile(join(into, 'README.md'), galleryText(pages))
} finally {
  await browser.close()
  await stack.stop()
}
const bytes = await folderBytes(into)
console.log(`${(bytes / 1e6).toFixed(1)} MB of at most ${MOST_BYTES / 1e6} MB`)
process.exitCode = faultCount === 0 && bytes <= MOST_BYTES ? 0 : 1

/**
 * One picture; answers how many faults the page had.
 * @param {Awaited<ReturnType<typeof openPage>>} opened
 * @param {import('./gallery-pages.mjs').GalleryPage} which
 * @param {typeof LOOKS[number]} look
 */
async function take({ page, faults }, { name, path, prepare }, { width, scheme }) {
  try {
    await page.setViewportSize({ width, height: 800 })
    await visit(page, new URL(path, stack.baseUrl).href)
    await prepare?.(page)
    await writeFile(join(into, `${name}-${scheme}-${width}.webp`), await picture(page, width))
    faults.push(...(await overflowFaults(page)))
  } catch (error) {
    faults.push(String(error instanceof Error ? error.message : error))
  }
  const found = faults.splice(0)
  for (const fault of found) console.log(`FAULT ${name} ${scheme} ${width}: ${fault}`)
  return found.length
}

/**
 * What the page shows, as WebP. The window is made as tall as the page: a full-page capture would redraw charts at a passing size.
 * @param {import('playwright-core').Page} page
 * @param {1280 | 390} width
 */
async function picture(page, width) {
  const height = Math.min(MOST_HEIGHT_PX[width], await page.evaluate(() => document.documentElement.scrollHeight))
  await page.setViewportSize({ width, height })
  await page.waitForFunction(() => document.querySelector('[role=status][aria-label=Loading]') === null)
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  const devtools = await page.context().newCDPSession(page)
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  await devtools.detach()
  return Buffer.from(data, 'base64')
}

/** @param {string} folder */
async function folderBytes(folder) {
  const sizes = await Promise.all((await readdir(folder)).map(async (file) => (await stat(join(folder, file))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
