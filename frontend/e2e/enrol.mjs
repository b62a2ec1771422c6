/**
 * Adds an agent through the page and prints the join command that it shows.
 *   node e2e/enrol.mjs --base-url URL --username U --password P --name NAME
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.mjs'
import { openPage, signIn, visit } from './checks.mjs'

const { values } = parseArgs({
  options: Object.fromEntries(
    ['base-url', 'username', 'password', 'name'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
})
const baseUrl = String(values['base-url'])

const browser = await launchBrowser()
try {
  const account = { baseUrl, username: String(values.username), password: String(values.password) }
  const { page, faults } = await openPage(browser, { width: 1280, scheme: 'light', storageState: await signIn(browser, account) })
  await visit(page, new URL('/agents', baseUrl).href)
  await page.getByRole('button', { name: 'Add agent' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(String(values.name))
  await page.getByRole('button', { name: 'Show what to type' }).click()
  console.log(await page.getByLabel('The join command').textContent())
  const link = await page.getByRole('dialog').getByRole('link', { name: 'Linux x86-64', exact: true }).getAttribute('href')
  const program = await page.request.get(new URL(String(link), baseUrl).href)
  assert.equal(program.status(), 200, (await program.body()).subarray(0, 300).toString())
  assert.equal((await program.body()).subarray(1, 4).toString(), 'ELF')
  assert.deepEqual(faults, [])
} finally {
  await browser.close()
}
