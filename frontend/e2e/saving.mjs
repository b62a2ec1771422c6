import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

/** @typedef {import('playwright-core').Page} Page */

const MM_PER_INCH = 25.4
const PNG_DOTS_PER_INCH = 2 * 150
const SINGLE_MM = 89

/**
 * A stack of charts taken away in every format, the files opened: what they hold is what the page shows.
 * @param {Page} page where the charts of a campaign are
 * @param {readonly string[]} titles of the charts
 */
export async function saveStack(page, titles) {
  const svg = await save(page, 'the whole stack', /^SVG, double/)
  assert.match(svg.name, /-stack\.svg$/)
  const text = svg.bytes.toString()
  assert.match(text, /<svg [^>]*width="183mm"/)
  assert.match(text, /<desc>.*n = \d+ runs? of each\. Link .*<\/desc>/)
  for (const title of titles) assert.ok(text.includes(`>${title} (`), `${title} is in the SVG`)
  const png = await save(page, 'the whole stack', /^PNG 2×, single/)
  assert.equal(png.bytes.toString('latin1', 1, 4), 'PNG')
  assert.equal(png.bytes.readUInt32BE(16), dots(SINGLE_MM))
  const csv = await save(page, 'the whole stack', /^CSV/)
  const [heads = '', ...rows] = csv.bytes.toString().trimEnd().split('\r\n')
  assert.match(heads, /^Series,Time \(s\),Throughput \(Mb\/s\),/)
  assert.ok(rows.length > 1 && rows.every((row) => row.length > 0), 'a row for each second')
}

/**
 * One chart of a quantity over time: its SVG is XML that names what is drawn, its PNG has its size and its picture, and each
 * row of its CSV is a number of the table behind the chart. Returns how many rows that were.
 * @param {Page} page
 * @param {string} title
 */
export async function saveChart(page, title) {
  const shown = await numbersBehind(page, title)
  const svg = await save(page, title, /^SVG, single/)
  const drawn = await readXml(page, svg.bytes.toString())
  assert.equal(drawn.error, null)
  assert.equal(drawn.width, `${SINGLE_MM}mm`)
  const words = drawn.texts.join('\n')
  for (const label of shown.labels) assert.ok(words.includes(label), `${label} is in the SVG`)
  assert.ok(words.includes(`${title} (`), 'the SVG names the quantity and its unit')
  const numbers = drawn.texts.filter((text) => /^[\d,.]+$/.test(text)).map((text) => Number(text.replaceAll(',', '')))
  assert.ok(numbers.length >= 4, 'the SVG has numbers at its axes')
  assert.ok(Math.max(...numbers) >= Math.max(...shown.cells.map(({ mean }) => mean)), 'the axis reaches the greatest mean')
  const png = await save(page, title, /^PNG 2×, single/)
  const picture = await readPicture(page, png.bytes)
  assert.equal(picture.width, dots(SINGLE_MM))
  assert.ok(Math.abs(picture.height - dots(drawn.heightMm)) <= 1, `${picture.height} is the height of the SVG at 300 dots per inch`)
  assert.ok(picture.colors > 20, 'the picture is not blank')
  const csv = await save(page, title, /^CSV/)
  assert.deepEqual(
    [svg, png, csv].map(({ name }) => name.replace(/\.\w+$/, '')),
    Array(3).fill(csv.name.replace(/\.csv$/, '')),
  )
  return compareRows(csv.bytes.toString(), shown.cells)
}

/** @param {number} mm */
const dots = (mm) => Math.round((mm / MM_PER_INCH) * PNG_DOTS_PER_INCH)

/** @param {Page} page @param {string} what @param {RegExp} choice */
async function save(page, what, choice) {
  await page.getByRole('button', { name: `Save ${what}`, exact: true }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: choice }).click()])
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
}

/** The table behind a chart, a cell for each series and second that has a value. @param {Page} page @param {string} title */
async function numbersBehind(page, title) {
  await page.getByRole('button', { name: `Show the numbers behind ${title}` }).click()
  const rows = await page
    .getByRole('figure')
    .filter({ hasText: title })
    .first()
    .locator('table tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')))
  const [[, ...labels] = [], ...body] = rows
  const cells = body.flatMap(([at = '', ...texts]) =>
    texts.flatMap((text, index) => {
      const found = text.match(/^([\d,.−]+)(?: \(.*\))?(?: n=(\d+))?$/)
      return found ? [{ series: labels[index] ?? '', at: Number(at), ...readNumber(found[1] ?? ''), n: Number(found[2]) }] : []
    }),
  )
  assert.ok(labels.length > 1 && cells.length > 10, `the table behind ${title} has series and numbers`)
  return { labels, cells }
}

/** A number as pages write it, and half of its last digit. @param {string} text */
function readNumber(text) {
  const plain = text.replaceAll(',', '').replace('−', '-')
  return { mean: Number(plain), within: 0.5001 * 10 ** -(plain.split('.')[1]?.length ?? 0) }
}

/** @param {string} text of the CSV @param {Awaited<ReturnType<typeof numbersBehind>>['cells']} cells */
function compareRows(text, cells) {
  const [heads = [], ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  assert.deepEqual(heads.slice(0, 2), ['Series', 'Time (s)'])
  assert.match(heads[2] ?? '', /^[A-Z].* \(.+\)$/)
  assert.match(heads.at(-1) ?? '', / n$/)
  const filled = rows.filter((row) => row[2] !== '')
  assert.equal(filled.length, cells.length, 'a row of the CSV for each number of the chart')
  const byPlace = new Map(filled.map((row) => [`${row[0]} ${row[1]}`, row]))
  for (const { series, at, mean, within, n } of cells) {
    const row = byPlace.get(`${series} ${at}`) ?? []
    assert.ok(Math.abs(Number(row[2]) - mean) <= within, `${series} at ${at} s: ${row[2]} in the CSV, ${mean} in the chart`)
    assert.equal(Number(row.at(-1)), n, `n of ${series} at ${at} s`)
  }
  return filled.length
}

/** By the browser's own reader of XML. @param {Page} page @param {string} text */
function readXml(page, text) {
  return page.evaluate((source) => {
    const read = new DOMParser().parseFromString(source, 'image/svg+xml')
    const root = read.documentElement
    return {
      error: read.querySelector('parsererror')?.textContent ?? null,
      width: root.getAttribute('width'),
      heightMm: Number.parseFloat(root.getAttribute('height') ?? ''),
      texts: [...read.querySelectorAll('text')].map((element) => element.textContent ?? ''),
    }
  }, text)
}

/** @param {Page} page @param {Buffer} bytes */
function readPicture(page, bytes) {
  return page.evaluate(async (base64) => {
    const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]))
    const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d')
    context?.drawImage(picture, 0, 0)
    const pixels = new Uint32Array(context?.getImageData(0, 0, picture.width, picture.height).data.buffer ?? new ArrayBuffer(0))
    return { width: picture.width, height: picture.height, colors: new Set(pixels).size }
  }, bytes.toString('base64'))
}
