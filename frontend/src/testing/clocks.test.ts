import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** What makes a test depend on how fast the machine is, which day it is, or what was drawn. Give-up times are set in one place for all. */
const CLOCKS =
  /\b(?:setTimeout|setInterval|Math\.random|randomUUID|getRandomValues|Date\.now|performance\.now)\(|new Date\(\)|\b(?:timeout|interval): /

/** `file: the line`, with the reason behind it. None is needed: vi.useFakeTimers and vi.setSystemTime bring a clock. */
const EXCEPTIONS: readonly string[] = []

const OWN = 'clocks.test.ts'
const IS_OF_TESTS = /(?:\.test\.tsx?|^testing\/.*\.tsx?)$/

const files = ['src', 'scripts'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    IS_OF_TESTS.test(name) && !name.endsWith(OWN) ? [`${folder}/${name}`] : [],
  ),
)

const found = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (CLOCKS.test(line) ? [`${file}: ${line.trim()}`] : [])),
)

it('no test waits for wall time, draws, or asks which day it is', () => {
  expect(files.length).toBeGreaterThan(80)
  expect(found.filter((line) => !EXCEPTIONS.includes(line))).toEqual([])
})

it('each exception is of a line that exists', () => {
  expect(EXCEPTIONS.filter((line) => !found.includes(line))).toEqual([])
})
