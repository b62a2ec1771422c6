import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

/**
 * A stack of charts taken away in every format, the files opened: what they hold is what the page shows.
 * @param {import('playwright-core').Page} page where the charts of a campaign are
 * @param {readonly string[]} titles of the charts
 */
export async function saveStack(page, titles) {
  /** @param {string | RegExp} name */
  const save = async (name) => {
    await page.getByRole('button', { name: 'Save the whole stack' }).click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()])
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
  }
  const svg = await save(/^SVG, double/)
  assert.match(svg.name, /-stack\.svg$/)
  const text = svg.bytes.toString()
  assert.match(text, /<svg [^>]*width="183mm"/)
  assert.match(text, /<desc>.*n = \d+ runs? of each\. Link .*<\/desc>/)
  for (const title of titles) assert.ok(text.includes(`>${title} (`), `${title} is in the SVG`)
  const png = await save(/^PNG 2×, single/)
  assert.equal(png.bytes.toString('latin1', 1, 4), 'PNG')
  assert.equal(png.bytes.readUInt32BE(16), Math.round((89 / 25.4) * 300))
  const csv = await save(/^CSV/)
  const [heads = '', ...rows] = csv.bytes.toString().trimEnd().split('\r\n')
  assert.match(heads, /^Series,Time \(s\),Throughput \(Mb\/s\),/)
  assert.ok(rows.length > 1 && rows.every((row) => row.length > 0), 'a row for each second')
}
