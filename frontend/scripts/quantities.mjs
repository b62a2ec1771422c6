/** Writes src/lib/quantities.gen.ts from the one list of quantities; with --check it fails when that file is another. */
import { readFileSync, writeFileSync } from 'node:fs'

const LIST = new URL('../../backend/downlink/domain/quantities.csv', import.meta.url)
const FILE = new URL('../src/lib/quantities.gen.ts', import.meta.url)

const [head = '', ...lines] = readFileSync(LIST, 'utf8').trim().split('\n')
const rows = lines.map(read)
const text = `// Made by \`npm run api\` from backend/downlink/domain/quantities.csv.
export const QUANTITIES = {
${rows.filter(isMeasured).map(entry).join('')}} as const

/** What can hold a flow back, in the order in which charts stack it. */
export const LIMITS = [
${rows
  .filter((row) => !isMeasured(row))
  .map(limit)
  .join('')}] as const
`

/** @param {string} line @returns {Record<string, string>} */
function read(line) {
  const cells = line.split(',')
  return Object.fromEntries(head.split(',').map((name, index) => [name, cells[index] ?? '']))
}

/** @param {Record<string, string>} row */
function isMeasured(row) {
  return row.kind !== 'share'
}

/** @param {Record<string, string>} row */
function limit(row) {
  return `  { name: '${row.name}', title: '${row.title}' },\n`
}

/** @param {Record<string, string>} row */
function entry(row) {
  const limit = row.most ? `, limit: ${row.most}` : ''
  return `  ${row.name}: { level: '${row.level}', title: '${row.title}', unit: '${row.shown_unit}', factor: ${Number(row.shown_factor)}${limit} },\n`
}

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text)
} else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('src/lib/quantities.gen.ts is not what quantities.csv says. Run npm run api and commit the result.')
  process.exitCode = 1
}
