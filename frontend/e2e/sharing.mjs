import assert from 'node:assert/strict'
import { accessibilityFaults, openPage, overflowFaults } from './checks.mjs'

/** A page with a dozen figures, on a machine that does other things besides. */
const STEP_MS = 90_000

/** @typedef {import('playwright-core').Page} Page */

/**
 * Print the report of the campaign on whose page this is, and give the PDF back with the page where it was.
 * @param {Page} page
 */
export async function printReport(page) {
  await page.getByRole('link', { name: 'Report', exact: true }).click()
  const report = page.getByRole('article', { name: /^Report of / })
  await report.getByRole('heading', { name: 'Limits of the study' }).waitFor()
  const figures = report.getByRole('figure')
  assert.ok((await figures.count()) >= 3, 'a report has figures')
  assert.match((await figures.first().textContent()) ?? '', /Figure 1\..*n = /)
  await page.emulateMedia({ media: 'print' })
  for (const gone of /** @type {const} */ (['banner', 'navigation']))
    assert.equal(await page.getByRole(gone).count(), 0, `a ${gone} is on paper`)
  assert.equal(await page.getByRole('button', { name: 'Print or save as PDF' }).isVisible(), false)
  await page.emulateMedia({ media: null })
  const pdf = { A4: await page.pdf({ format: 'A4' }), Letter: await page.pdf({ format: 'Letter' }) }
  for (const [format, bytes] of Object.entries(pdf)) assert.equal(bytes.subarray(0, 5).toString(), '%PDF-', format)
  await page.getByRole('link', { name: 'Back to the campaign' }).click()
  return pdf
}

/**
 * Share the campaign on whose page this is, read it in a browser that has never been here, and revoke the link.
 * @param {Page} page
 * @param {import('playwright-core').Browser} browser
 */
export async function shareCampaign(page, browser) {
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'For' }).fill('A visitor')
  await dialog.getByRole('button', { name: 'Make link' }).click()
  const link = (await dialog.getByLabel('The new link').textContent()) ?? ''
  const visitor = await openPage(browser, { width: 1280, scheme: 'light' })
  visitor.page.setDefaultTimeout(STEP_MS)
  /** @type {string[]} */
  const asked = []
  visitor.page.on('request', (request) => asked.push(`${request.url()} ${request.headers().referer ?? ''}`))
  await visitor.page.goto(link)
  await visitor.page.getByRole('heading', { name: 'Limits of the study' }).waitFor()
  const [, secret = ''] = link.split('#')
  assert.ok(secret.length > 20 && !visitor.page.url().includes(secret), 'the secret must leave the address')
  assert.ok(!asked.slice(1).some((one) => one.includes(secret)), 'no request names the secret in its address or where it came from')
  for (const tab of ['Results', 'Downloads']) {
    await visitor.page.getByRole('tab', { name: tab }).click()
    await visitor.page
      .getByRole('figure')
      .or(visitor.page.getByRole('link', { name: /^Download / }))
      .first()
      .waitFor()
    assert.deepEqual([...(await overflowFaults(visitor.page)), ...(await accessibilityFaults(visitor.page))], [], tab)
  }
  const [saved] = await Promise.all([
    visitor.page.waitForEvent('download'),
    visitor.page.getByRole('link', { name: 'Download runs.csv' }).click(),
  ])
  assert.equal(await saved.failure(), null)
  const origin = new URL(link).origin
  for (const path of ['/campaigns', '/agents']) {
    await visitor.page.goto(`${origin}${path}`)
    await visitor.page.waitForURL('**/login**')
  }
  await dialog
    .getByRole('row', { name: /^A visitor/ })
    .getByRole('button', { name: 'Revoke' })
    .click()
  await page
    .getByRole('dialog', { name: /^Revoke the link/ })
    .getByRole('button', { name: 'Revoke' })
    .click()
  await dialog.getByRole('row', { name: /^A visitor/ }).waitFor({ state: 'detached' })
  await visitor.page.goto(link)
  await visitor.page.getByText('This link no longer works').waitFor()
  assert.deepEqual(visitor.faults, [])
  await visitor.context.close()
  await page.keyboard.press('Escape')
}
