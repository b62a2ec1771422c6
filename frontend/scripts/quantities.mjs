/** Writes src/lib/quantities.gen.ts from the one list of quantities; with --check it fails when that file is another. */
import { readFileSync, writeFileSync } from 'node:fs'

const LIST = new URL('../../backend/downlink/domain/quantities.csv', import.meta.url)
const FILE = new URL('../src/lib/quantities.gen.ts', import.meta.url)

const [head = '', ...lines] = readFileSync(LIST, 'utf8').trim().split('\n')
const shown = lines.map(read).filter((row) => row.kind !== 'share')
const text = `// Made by \`npm run api\` from backend/downlink/domain/quantities.csv.
export const QUANTITIES = {
${shown.map(entry).join('')}} as const
`

/** @param {string} line @returns {Record<string, string>} */
function read(line) {
  const cells = line.split(',')
  return Object.fromEntries(head.split(',').map((name, index) => [name, cells[index] ?? '']))
}

/** @param {Record<string, string>} row */
function entry(row) {
  const limit = row.most ? `, limit: ${row.most}` : ''
  return `  ${row.name}: { title: '${row.title}', unit: '${row.shown_unit}', factor: ${Number(row.shown_factor)}${limit} },\n`
}

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text)
} else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('src/lib/quantities.gen.ts is not what quantities.csv says. Run npm run api and commit the result.')
  process.exitCode = 1
}
