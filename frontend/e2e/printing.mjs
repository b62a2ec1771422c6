/**
 * A campaign's report printed by the browser, on A4 and on Letter.
 *   node e2e/printing.mjs --base-url URL --username U --password P --campaign ID --into DIR
 * Writes A4.pdf and Letter.pdf, and prints one JSON line of what the page holds that paper must hold as well, and what it must not.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'campaign', 'into'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
/** @param {string} name */
const value = (name) => String(values[name])
const baseUrl = value('base-url')
/** A page with a dozen figures, on a machine that does other things besides. */
const STEP_MS = 90_000

const browser = await launchBrowser()
try {
  const storageState = await signIn(browser, { baseUrl, username: value('username'), password: value('password') })
  // Who reads in the dark prints on white all the same.
  const { page } = await openPage(browser, { width: 1280, scheme: 'dark', storageState })
  page.setDefaultTimeout(STEP_MS)
  await visit(page, new URL(`/campaigns/${value('campaign')}/report`, baseUrl).href)
  await page.getByRole('heading', { name: 'Limits of the study' }).waitFor()
  for (const format of ['A4', 'Letter']) await page.pdf({ format, path: join(value('into'), `${format}.pdf`), printBackground: true })
  console.log(JSON.stringify(await page.evaluate(readReport)))
} finally {
  await browser.close()
}

/** In the page: the parts of a report as texts. */
function readReport() {
  const report = document.querySelector('article')
  /** @param {Element | null | undefined} element */
  const text = (element) => (element?.textContent ?? '').trim()
  /** @param {string} selector */
  const texts = (selector) => [...(report?.querySelectorAll(selector) ?? [])].map(text)
  /** The paragraphs below a heading. @param {string} name */
  const below = (name) => {
    const found = []
    let next = [...(report?.querySelectorAll('h2') ?? [])].find((heading) => text(heading) === name)?.nextElementSibling
    for (; next && next.tagName !== 'H2'; next = next.nextElementSibling) if (next.tagName === 'P') found.push(text(next))
    return found
  }
  /** @param {string} label */
  const rows = (label) =>
    [...(report?.querySelectorAll(`[role=group][aria-label^="${label}"] tbody tr`) ?? [])].map((row) => [...row.children].map(text))
  return {
    headings: texts('h1, h2'),
    question: below('Question'),
    method: below('Method'),
    conditions: rows('Conditions'),
    keys: rows('Key figures'),
    failures: rows('Failures'),
    limits: texts('h2 + ul li'),
    figures: [...(report?.querySelectorAll('figure') ?? [])].map((figure) => ({
      title: text(figure.querySelector('h3')),
      caption: text(figure.querySelector('figcaption')),
      parts: figure.querySelectorAll('svg').length / 2,
    })),
    screenOnly: [...document.querySelectorAll('nav a, header a, header button, article button, article a')].map(text).filter(Boolean),
  }
}
