/**
 * Which room may import which (docs/architecture.md): lower rooms know nothing of higher ones, features nothing of each other,
 * charts never fetch. Run: node scripts/zones.mjs
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Room to the rooms that it may import besides itself. `features/*` is one room per folder. */
/** @type {Record<string, string[]>} */
const MAY_IMPORT = {
  lib: [],
  api: ['lib'],
  ui: ['lib', 'api'],
  charts: ['lib', 'ui'],
  features: ['lib', 'api', 'charts', 'ui'],
  app: ['lib', 'api', 'charts', 'ui', 'features'],
  testing: ['lib', 'api', 'charts', 'ui', 'features', 'app'],
}

/** @param {string} file path below src, with forward slashes */
export function roomOf(file) {
  const [first = '', second] = file.split('/')
  return first === 'features' ? `features/${second}` : first.includes('.') ? '' : first
}

/**
 * @param {string} file path below src
 * @param {string} source
 * @returns {string[]} paths below src that it imports
 */
export function localImports(file, source) {
  const specifiers = [...source.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1] ?? '')
  return specifiers
    .filter((one) => one.startsWith('@/') || one.startsWith('.'))
    .map((one) => (one.startsWith('@/') ? one.slice(2) : posix.normalize(posix.join(posix.dirname(file), one))))
}

/** @param {string} from @param {string} to rooms */
export function isAllowed(from, to) {
  if (from === to || from === '') return true
  const [kind = ''] = from.split('/')
  const [target = ''] = to.split('/')
  return (MAY_IMPORT[kind] ?? []).includes(target)
}

/**
 * @param {[file: string, source: string][]} files
 * @returns {string[]} one line per import that crosses a wall
 */
export function violations(files) {
  return files.flatMap(([file, source]) => {
    // Tests stand where their subject stands, and may use the stand-in server.
    const isTest = /\.test\.tsx?$/.test(file)
    return localImports(file, source)
      .filter((target) => !isAllowed(roomOf(file), roomOf(target)) && !(isTest && roomOf(target) === 'testing'))
      .map((target) => `${file} may not import ${target}`)
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../src', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(root, name))
    .map((path) => /** @type {[string, string]} */ ([relative(root, path).replaceAll('\\', '/'), readFileSync(path, 'utf8')]))
  const found = violations(files)
  for (const line of found) console.error(line)
  process.exitCode = found.length === 0 ? 0 : 1
}
