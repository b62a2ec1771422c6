import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { editAll, editAt, placeOf, readDraft, valueAt } from './document'

const FILE = `# Why this is measured.
name: HyStart on and off   # as the paper calls it
links: [geo-viasat]
stop: {seconds: 60}
unknown_key: kept

timetable:
  cycles: 5                # few, to begin with
conditions:
  # The kernel's own.
  - {name: HyStart on, sender: {tcp_cubic.hystart: 1}}
  - {name: HyStart off, sender: {tcp_cubic.hystart: 0}}
`

it('a value is replaced where it stands, and every other character stays', () => {
  expect(editAt(FILE, ['timetable', 'cycles'], 10)).toBe(FILE.replace('cycles: 5 ', 'cycles: 10 '))
  expect(editAt(FILE, ['name'], 'A: b')).toBe(FILE.replace('HyStart on and off ', '"A: b" '))
  expect(editAt(FILE, ['conditions', 1, 'name'], 'off, at last')).toBe(FILE.replace('HyStart off', '"off, at last"'))
})

it.each(['on', '3.1', 'a, b', '{x}', '# no comment', ' spaces ', 'true', '1e9', 'a\nb', ''])(
  'the text %j is read back as it was given',
  (value) => {
    for (const path of [['name'], ['conditions', 0, 'name'], ['notes']]) {
      expect(valueAt(readDraft(editAt(FILE, path, value)).data, path)).toBe(value)
    }
  },
)

it('a new key leaves comments and keys that the form does not know', () => {
  const text = editAt(FILE, ['limits', 'attempts'], 3)
  expect(readDraft(text).data).toEqual({ ...readDraft(FILE).data, limits: { attempts: 3 } })
  for (const kept of [
    '# Why this is measured.',
    '# as the paper calls it',
    'unknown_key: kept',
    '# few, to begin with',
    "# The kernel's own.",
  ]) {
    expect(text).toContain(kept)
  }
  expect(text).toContain('limits: {attempts: 3}')
})

it('with the last key of a mapping the mapping goes too', () => {
  expect(readDraft(editAt(FILE, ['conditions', 0, 'sender', 'tcp_cubic.hystart'], undefined)).data?.conditions).toEqual([
    { name: 'HyStart on' },
    { name: 'HyStart off', sender: { 'tcp_cubic.hystart': 0 } },
  ])
  expect(editAt(FILE, ['windows'], undefined)).toBe(FILE)
})

it('a key without a value takes one', () => {
  const text = editAll('name: x\ndefaults:\nphases:\n', [
    [['defaults', 'sender', 'tcp_cubic.hystart'], 1],
    [['phases', 'startup_s'], 15],
  ])
  expect(readDraft(text).data).toEqual({ name: 'x', defaults: { sender: { 'tcp_cubic.hystart': 1 } }, phases: { startup_s: 15 } })
})

it('an empty text becomes a file, a broken one stays and says where', () => {
  expect(readDraft(editAt('', ['name'], 'x')).data).toEqual({ name: 'x' })
  const broken = 'name: x\nlinks: [a\nstop: 3\n'
  expect(editAt(broken, ['name'], 'y')).toBe(broken)
  expect(readDraft(broken).fault?.line).toBeGreaterThanOrEqual(2)
  expect(readDraft('- a list').fault?.message).toContain('mapping')
})

it('JSON stays JSON', () => {
  const json = '{"name": "x", "stop": {"seconds": 60}}'
  expect(JSON.parse(editAt(json, ['stop', 'seconds'], 30))).toEqual({ name: 'x', stop: { seconds: 30 } })
})

const EXAMPLES = '../docs/examples'
it.each(readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml')))('%s loses nothing when a key is added and taken away', (name) => {
  const text = readFileSync(`${EXAMPLES}/${name}`, 'utf8')
  const changed = editAt(editAt(text, ['limits', 'bytes'], 1), ['limits', 'bytes'], undefined)
  expect(readDraft(changed).data).toEqual(readDraft(text).data)
  const comments = (from: string) => from.match(/#.*/g) ?? []
  expect(comments(changed)).toEqual(comments(text))
})

it('places are named as the server names them', () => {
  expect(placeOf(['conditions', 1, 'flows', 0, 'cc'])).toBe('conditions[1].flows[0].cc')
})
