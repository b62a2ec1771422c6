import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'

/** @typedef {import('playwright-core').Page} Page */

/**
 * From a campaign's page to its conditions beside those of another campaign, which is found by its name and chosen by keyboard.
 * @param {Page} page on a campaign's page
 * @param {string} file of another tool, which becomes the other campaign
 */
export async function compareTwoCampaigns(page, file) {
  const { origin } = new URL(page.url())
  const answer = await page.request.post(`${origin}/api/v1/imports`, {
    headers: { Origin: origin },
    multipart: { campaign: 'Field trip', files: { name: basename(file), mimeType: 'application/json', buffer: await readFile(file) } },
  })
  assert.equal(answer.status(), 201, await answer.text())
  await page.getByRole('link', { name: 'Compare with …' }).click()
  await page.getByRole('radiogroup', { name: 'Baseline' }).getByRole('radio').nth(1).waitFor()
  await page.getByRole('combobox', { name: 'Add a condition' }).focus()
  await page.keyboard.type('field trip')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByText('What else is different').waitFor()
  await page.getByText(/One run has no interval/).waitFor()
  await page.getByRole('radio', { name: 'cubic upload' }).click()
  await page.getByRole('heading', { name: /difference to cubic upload$/ }).waitFor()
  const address = new URL(page.url())
  assert.match(address.searchParams.get('baseline') ?? '', /imported/)
  const link = await page.getByRole('link', { name: 'Download comparison.csv' }).getAttribute('href')
  const table = await (await page.request.get(new URL(link ?? '', origin).href)).text()
  assert.match(table, /^campaign_id,campaign,link,condition,/)
  assert.match(table, /,Field trip,imported,/)
  await page.goBack()
  await page.getByRole('heading', { name: /difference to / }).waitFor()
  assert.doesNotMatch(new URL(page.url()).searchParams.get('baseline') ?? '', /imported/)
}
