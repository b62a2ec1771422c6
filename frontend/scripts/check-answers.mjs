/**
 * Fails when an answer in backend/tests/answers, which the tests use, is not of the type that src/api/schema.d.ts gives it.
 * Run: node scripts/check-answers.mjs
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, '../backend/tests/answers')
const document = JSON.parse(readFileSync(join(root, '../backend/openapi.json'), 'utf8'))

/** @type {[template: string, pattern: RegExp][]} paths without parameters first: /sweeps/parameters is no sweep's */
const PATHS = Object.keys(document.paths)
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map((path) => [path, new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)])

/** @param {string} name @param {{asked: string, status: number, body: unknown}} recording @returns {string[]} a typed constant, if it is JSON */
function typed(name, { asked, status, body }) {
  const [method = '', question = ''] = asked.split(' ')
  const path = PATHS.find(([, pattern]) => pattern.test(`/api/v1${question.replace(/\?.*/, '')}`))?.[0]
  if (!path) throw new Error(`${name}: no path of the API is ${question}`)
  if (typeof body !== 'object' || body === null) return []
  const type = `paths['${path}']['${method.toLowerCase()}']['responses'][${status}]['content']['application/json']`
  return [`/* ${name} */ export const _${name.replaceAll('-', '_')}: ${type} = ${JSON.stringify(body)}`]
}

const constants = readdirSync(folder).flatMap((file) =>
  typed(file.replace('.json', ''), JSON.parse(readFileSync(join(folder, file), 'utf8'))),
)
const source = ["import type { paths } from './schema'", ...constants].join('\n')
const lines = source.split('\n')

const checked = join(root, 'src/api/answers.check.ts')
const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [checked] }, ts.sys, root)
const host = ts.createCompilerHost({ ...options, incremental: false, tsBuildInfoFile: undefined })
const { readFile, fileExists } = host
/** @param {string} file */
host.readFile = (file) => (file === checked ? source : readFile(file))
/** @param {string} file */
host.fileExists = (file) => file === checked || fileExists(file)
const getSourceFile = host.getSourceFile.bind(host)
/** @type {ts.CompilerHost['getSourceFile']} */
host.getSourceFile = (file, version) => (file === checked ? ts.createSourceFile(file, source, version) : getSourceFile(file, version))
const program = ts.createProgram([checked], { ...options, types: [], incremental: false, tsBuildInfoFile: undefined }, host)

for (const { start = 0, messageText, file } of ts.getPreEmitDiagnostics(program)) {
  const line = file?.getLineAndCharacterOfPosition(start).line ?? 0
  const name = /\* (\S+) \*/.exec(lines[line] ?? '')?.[1] ?? file?.fileName
  console.error(`${name}.json: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
  process.exitCode = 1
}
