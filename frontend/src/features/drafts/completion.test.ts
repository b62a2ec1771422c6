import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { suggest } from './completion'
import type { Shape } from './schema'
import { helpText, shapeAt } from './schema'

const SCHEMA: Shape = JSON.parse(readFileSync('../backend/tests/answers/campaign-schema.json', 'utf8')).body
const KNOWN = { links: ['geo-viasat', 'roof'], controls: ['bbr', 'cubic', 'dl_hybla'] }

/** Labels at the mark | of a text. */
function labels(marked: string): string[] {
  const position = marked.indexOf('|')
  return suggest(marked.replace('|', ''), position, SCHEMA, KNOWN)?.suggestions.map(({ label }) => label) ?? []
}

it('at the top every key that is not there yet is suggested', () => {
  expect(labels('|')).toContain('timetable')
  expect(labels('name: x\nlinks: [a]\nti|')).not.toContain('links')
  expect(labels('name: x\nti|\nconditions:\n  - name: a\n')).toContain('timetable')
})

it.each([
  ['timetable:\n  |', 'cycles'],
  ['timetable:\n  cycles: 3\n  or|', 'order'],
  ['timetable: {cycles: 3, |}', 'seed'],
  ['stop: |', 'seconds'],
  ['conditions:\n  - na|', 'name'],
  ['conditions:\n  - name: a\n    flows:\n      - cc: bbr\n        st|', 'start_s'],
  ['conditions:\n  - {name: a, sender: {tcp_|}}', 'tcp_cubic.hystart'],
  ['defaults:\n  receiver:\n    net.ipv4.tcp_r|', 'net.ipv4.tcp_rmem'],
])('inside %j the key %s is suggested', (text, key) => expect(labels(text)).toContain(key))

it.each([
  ['timetable: {order: |}', ['interleaved', 'shuffled']],
  ['sampling: |', ['polled', 'per_ack']],
  ['links: [|]', ['geo-viasat', 'roof']],
  ['links:\n  - ro|', ['geo-viasat', 'roof']],
  ['conditions:\n  - {name: a, flows: [{cc: |}]}', ['bbr', 'cubic', 'dl_hybla']],
  ['name: |', []],
])('inside %j the values %j are suggested', (text, values) => expect(labels(text)).toEqual(values))

it('a suggestion replaces the word before the cursor and brings its help', () => {
  const text = 'timetable:\n  cyc'
  const found = suggest(text, text.length, SCHEMA, KNOWN)
  expect(found?.from).toBe(text.length - 3)
  expect(found?.suggestions.find(({ label }) => label === 'cycles')).toMatchObject({
    apply: 'cycles: ',
    help: expect.stringContaining('Runs of each condition'),
  })
})

it('help has the meaning and the range', () => {
  expect(helpText(shapeAt(SCHEMA, ['stop', 'seconds']))).toBe('Duration from the first data byte; 1 to 86,400')
  expect(shapeAt(SCHEMA, ['no', 'such'])).toBeNull()
})
