import { readdirSync, readFileSync } from 'node:fs'
import { fireEvent, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { describe, expect, it } from 'vitest'
import type { PlacedProblem } from '@/api/problem'
import type { Link } from '@/api/types'
import { serve } from '@/testing/network'
import { said } from '@/testing/recordings'
import { renderPart } from '@/testing/renderPart'
import { makeWorld } from '@/testing/world'
import { DraftEditor } from './DraftEditor'
import { type Path, placeOf, readDraft, valueAt } from './document'
import { INTCP_OPTIONS } from './intcp'
import { type Shape, shapeAt } from './schema'
import { VARIED_KEYS } from './vary'

const DOCS = '../docs'
const FOLDERS = ['examples', 'examples/studies']
const EXAMPLES = FOLDERS.flatMap((folder) =>
  readdirSync(`${DOCS}/${folder}`).flatMap((name) => (name.endsWith('.yaml') ? [`${folder}/${name}`] : [])),
)
const example = (name: string) => readFileSync(`${DOCS}/${name}`, 'utf8')

interface HeldProps {
  start: string
  problems: readonly PlacedProblem[]
  onText: (text: string) => void
}

function Held({ start, problems, onText }: HeldProps) {
  const [text, setText] = useState(start)
  onText(text)
  return <DraftEditor text={text} onChange={setText} problems={problems} view="form" onView={() => undefined} />
}

/** The form over a text, and what the text is by now. */
async function edit(start: string, problems: readonly PlacedProblem[] = []) {
  const held = { text: start }
  const onText = (text: string) => {
    held.text = text
  }
  renderPart(<Held {...{ start, problems, onText }} />)
  await waitFor(() => field('Name'))
  return held
}

const comments = (text: string) => text.match(/#.*/g) ?? []

/** Fields in which one types; those of opened lists are left alone. */
const typed = () =>
  [
    ...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
      'input:not([type=radio],[type=checkbox],[role=combobox]), textarea',
    ),
  ]
    .filter((field) => !field.readOnly && !field.disabled && field.getAttribute('aria-hidden') !== 'true' && field.type !== 'hidden')
    .filter((field) => field.closest('.mantine-TagsInput-root, .mantine-MultiSelect-root, .mantine-Select-root') === null)

/** Another value that the field takes. */
function other(field: HTMLInputElement | HTMLTextAreaElement): string {
  if (field.type === 'date') return field.value === '2027-01-31' ? '2027-02-01' : '2027-01-31'
  if (field.type === 'time') return field.value === '07:31' ? '07:32' : '07:31'
  return field.value === '7' ? '8' : '7'
}

/** Fields that were tried, by their label, empty or not: one of a kind is enough. */
const tried = new Set<string>()

/** Texts of labels by their field's id: a field's own `labels` look through the whole page for each label. */
const labelTexts = () => new Map([...document.querySelectorAll('label')].map((label) => [label.htmlFor, label.textContent]))

function kindOf(field: HTMLInputElement | HTMLTextAreaElement, labels: Map<string, string>): string {
  const label = labels.get(field.id) ?? field.labels?.[0]?.textContent
  return `${label?.replace(/\d+$/, '') || field.getAttribute('aria-label') || ''}: ${field.value === '' ? 'empty' : 'given'}`
}

function tryFields(held: { text: string }, start: string) {
  const labels = labelTexts()
  for (const [index, field] of typed().entries()) {
    const kind = kindOf(field, labels)
    if (tried.has(kind)) continue
    tried.add(kind)
    tryField(held, start, index, kind)
  }
}

/** Changes a field and changes it back. */
function tryField(held: { text: string }, start: string, index: number, kind: string) {
  const [field, before] = [typed()[index], held.text]
  if (!field) throw new Error(`${kind} went away`)
  const { value } = field
  fireEvent.change(field, { target: { value: other(field) } })
  expect(held.text, `${kind} changes the file`).not.toBe(before)
  const same = typed()[index]
  if (!same) throw new Error(`${kind} went away`)
  fireEvent.change(same, { target: { value } })
  expect(readDraft(held.text).data, `${kind} is changed back`).toEqual(readDraft(start).data)
  expect(comments(held.text)).toEqual(comments(start))
}

/** Once a condition has its fields, and no other has. */
async function openedCondition(condition: Element) {
  const owners = () => labelled(/^Name of the condition/).map((label) => label.closest('details'))
  await waitFor(() => expect(owners()).toEqual([condition.closest('details')]))
}

describe('every example', () => {
  it.each(EXAMPLES)('%s comes out of the form as it went in, whatever is opened, changed and changed back', async (name) => {
    serve()
    const start = example(name)
    const held = await edit(start)
    const conditions = [...document.querySelectorAll('details > summary > strong')]
    for (const condition of conditions.length > 0 ? new Set([conditions[0], conditions.at(-1)]) : [undefined]) {
      const before = held.text
      if (condition) {
        fireEvent.click(condition)
        await openedCondition(condition)
      }
      expect(held.text).toBe(before)
      tryFields(held, start)
    }
  })
})

const SWITCHING = [2, 4, 6, 8, 10].map((seconds) => `intcp-switch-${seconds}s`)

function serveRelayed() {
  const world = makeWorld()
  const [link] = world.links
  world.links = SWITCHING.map((name, index) => ({ ...(link as Link), id: `relayed-${index}`, name, relays: ['relay'] }))
  serve(world)
}

const matches = (text: string, wanted: string | RegExp) => (typeof wanted === 'string' ? text === wanted : wanted.test(text))

const labelled = (label: string | RegExp, root: HTMLElement = document.body) =>
  [...root.querySelectorAll('label')].filter((one) => matches(one.textContent.replace(/ \*$/, ''), label))

/** By the label's text; required fields have a star behind theirs. Queries by role take seconds on a page of some hundred fields. */
function field(label: string | RegExp, root: HTMLElement = document.body): HTMLInputElement {
  const found = labelled(label, root)[0]?.htmlFor
  if (!found) throw new Error(`no field ${String(label)}`)
  return document.getElementById(found) as HTMLInputElement
}

const fill = (label: string | RegExp, value: string, root?: HTMLElement) => fireEvent.change(field(label, root), { target: { value } })

async function choose(label: string, option: string | RegExp, box = field(label)) {
  // A list from which several are chosen stays open.
  if (box.getAttribute('aria-expanded') !== 'true') fireEvent.click(box)
  await waitFor(() => {
    const list = document.getElementById(box.getAttribute('aria-controls') ?? '')
    const found = [...(list?.querySelectorAll('[role=option]') ?? [])].find((one) => matches(one.textContent, option))
    if (!found) throw new Error(`no option ${String(option)} of ${label}`)
    fireEvent.click(found)
  })
}

function group(name: string): HTMLElement {
  const found = [...document.querySelectorAll('fieldset')].find((one) => one.querySelector('legend')?.textContent === name)
  if (!found) throw new Error(`no group ${name}`)
  return found
}

async function addSetting(owner: string, name: string, value: string) {
  const own = group(owner)
  await choose(owner, name, own.querySelector<HTMLInputElement>('[placeholder="Add a setting"]') as HTMLInputElement)
  fill(name, value, own)
}

function addCondition(name: string, fields: () => void) {
  fireEvent.click(screen.getByRole('button', { name: 'Add a condition' }))
  fill(/^Name of the condition/, name)
  fields()
}

const carry = (title: string) => fireEvent.click(field(title))

describe('Figure 5(a) of paper 004', () => {
  it('is built in the form alone', async () => {
    serveRelayed()
    const { reproduces: _, ...wanted } = readDraft(example('examples/studies/004-5a.yaml')).data ?? {}
    const held = await edit('')
    fill(/^Name/, 'Study 004: Figure 5(a)')
    fill('Notes', String(wanted.notes))
    for (const link of SWITCHING) await choose('Links', link)
    addCondition('Cubic', () => void fill(/^Congestion control/, 'cubic'))
    addCondition('Hybla', () => void fill(/^Congestion control/, 'dl_hybla'))
    for (const [name, cc] of [
      ['Cubic split', 'cubic'],
      ['Hybla split', 'dl_hybla'],
    ] as const) {
      addCondition(name, () => {
        carry('Split TCP')
        fill('Congestion control', cc)
        fill('Congestion control of relays', cc)
      })
    }
    addCondition('INTCP', () => {
      carry('INTCP')
      fill('Buffer of a relay', '24')
      fill('Window of the receiver', '64')
    })
    await choose('Varies', 'what the links differ in')
    fill(/^What they differ in/, 'switch_s')
    for (const seconds of [2, 4, 6, 8, 10]) fill(new RegExp(`^Value for intcp-switch-${seconds}s`), String(seconds))
    await addSetting('Sender settings', 'tcp_cubic.hystart', '1')
    await addSetting('Sender settings', 'net.ipv4.tcp_wmem', '4096 16384 16000000')
    await addSetting('Sender settings', 'net.ipv4.tcp_slow_start_after_idle', '0')
    await addSetting('Receiver settings', 'net.ipv4.tcp_rmem', '4096 131072 16000000')
    await addSetting('Relay settings', 'net.ipv4.tcp_rmem', '4096 131072 64000000')
    await addSetting('Relay settings', 'net.ipv4.tcp_wmem', '4096 16384 16000000')
    fill(/^Length of a run/, '60')
    fill(/^Start-up: the first/, '10')
    fill(/^Steady state: the last/, '40')
    fill(/^Cycles/, '3')
    fill(/^Pause between cycles/, '1')
    await choose('Order in a cycle', 'drawn for each cycle')
    await choose('Order in a cycle', 'as listed')
    fill(/^Tries per run/, '5')
    await choose('What is tested', 'Goodput, overall')
    expect(readDraft(held.text).data).toEqual(wanted)
  })
})

describe('what few campaigns have', () => {
  it('is hidden until it is wanted', async () => {
    serve()
    await edit('links: [geo-viasat]\nconditions: [{name: a}]\n')
    fireEvent.click(screen.getByText('a', { selector: 'summary strong' }))
    await screen.findByRole('radiogroup', { name: 'What Flow 1 carries' })
    expect(screen.queryByText('Relay settings')).toBeNull()
    for (const label of ['INTCP', 'Receiver', 'Content', /^Messages at a fixed rate/, 'Above', 'Values', 'What they differ in']) {
      expect(() => field(label), String(label)).toThrow('no field')
    }
  })

  it('a range is expected of a metric in the unit that pages show', async () => {
    serve()
    const held = await edit('links: [geo-viasat]\nconditions: [{name: a}]\n')
    const expected = () => readDraft(held.text).data?.expect
    fireEvent.click(screen.getByRole('button', { name: 'Add a range' }))
    fill('Above', '20')
    fill('Below', '120.5')
    await choose('Of the condition', 'a')
    expect(expected()).toEqual([{ metric: 'overall.goodput_bps', above: 20e6, below: 120.5e6, condition: 'a' }])
    await choose('Metric', 'Utilisation')
    await choose('In the phase', 'Steady state')
    fill('Above', '57')
    fill('Below', '')
    expect(expected()).toEqual([{ metric: 'steady.utilisation_ratio', above: 0.57, condition: 'a' }])
    fireEvent.click(screen.getByRole('button', { name: 'Remove range 1' }))
    expect(expected()).toBeUndefined()
  })

  it('a key of the conditions has a list of values, numbers as numbers', async () => {
    serve()
    const held = await edit('links: [x]\nconditions: [{name: a, flows: [{transport: intcp}]}]\nvary: {cache: [on, off]}\n')
    fill(/^Key/, 'buffer_bytes')
    const values = field('Values')
    await userEvent.type(values, '{Backspace}{Backspace}0,500000,')
    expect(readDraft(held.text).data?.vary).toEqual({ buffer_bytes: [0, 500000] })
    await choose('Varies', 'no key')
    expect(readDraft(held.text).data?.vary).toBeUndefined()
  })

  it('a flow keeps its sender and its messages when INTCP carries it, and goes to another receiver', async () => {
    serve()
    const held = await edit(
      'links: [x]\nconditions: [{name: a, flows: [{transport: split, cc: bbr, relay_cc: reno, options: {a: 1}, sender: 2}]}]\n',
    )
    const flow = () => valueAt(readDraft(held.text).data, ['conditions', 0, 'flows', 0])
    fireEvent.click(screen.getByText('a', { selector: 'summary strong' }))
    fireEvent.click(await screen.findByText('Receiver and messages'))
    fireEvent.click(await waitFor(() => field(/^Messages at a fixed rate/)))
    fill('Receiver', '2')
    carry('TCP data')
    expect(flow()).toEqual({ cc: 'bbr', options: { a: 1 }, sender: 2, receiver: 2, offer: { message_bytes: 16, every_ms: 5 } })
  })

  it('what is wrong is said at its field', async () => {
    serve()
    const text =
      'links: [x]\nconditions: [{name: a, flows: [{transport: intcp, options: {buffer_bytes: 5}, content: 99}]}]\n' +
      'trigger: {when: {quantity: dish.x, above: 1, source: a}}\nexpect: [{metric: overall.rtt_ms, above: 1, link: y}]\n' +
      'vary: {gap: {x: 1}}\ndeliveries: 1\n'
    const places: Record<string, string | RegExp> = {
      'conditions[0].flows[0].options.buffer_bytes': 'Buffer of a relay',
      'conditions[0].flows[0].content': 'Content',
      'trigger.when.source': 'Said by the source',
      'expect[0].link': 'On the link',
      'vary.gap.x': /^Value for x/,
      deliveries: /^Keep delivery tables/,
    }
    const problems = Object.keys(places).map((place) => ({ place, message: `wrong is ${place}` }))
    await edit(text, problems)
    fireEvent.click(screen.getByText('a', { selector: 'summary strong' }))
    await waitFor(() => field('Content'))
    for (const [place, label] of Object.entries(places)) {
      const says = (field(label).getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent)
      expect(says, place).toContain(`wrong is ${place}`)
    }
  })
})

/** Parts that hold names of the user's own, or of another list: one place, whatever is in them. */
const BY_NAME = /(?:^|\.)(?:sender|receiver|relay|options|vary)$/
/** What the form keeps as it is. */
const KEPT = /^(?:reproduces|conditions\[\]\.varied|conditions\[\]\.flows\[\]\.transport)\b/

function keysOf(shape: Shape, place = ''): string[] {
  const { properties, items } = shapeAt(shape, []) ?? {}
  if (BY_NAME.test(place) && properties) return [place]
  if (properties) return Object.entries(properties).flatMap(([name, inner]) => keysOf(inner, place ? `${place}.${name}` : name))
  return items ? keysOf(items, `${place}[]`) : [place]
}

/** Each place of a file that has a value. */
function placesOf(value: unknown, path: Path = []): string[] {
  if (typeof value !== 'object' || value === null) return [placeOf(path)]
  if (Array.isArray(value)) return value.flatMap((one, index) => placesOf(one, [...path, index]))
  return Object.entries(value).flatMap(([name, one]) => placesOf(one, [...path, name]))
}

const keyOf = (place: string) => place.replace(/\[\d+\]/g, '[]').replace(/((?:^|\.)(?:sender|receiver|relay|options|vary))\.(?:.*)$/, '$1')

/** Together they have every key. */
const FILES = [
  `name: a
notes: b
links: [x, y]
stop: {seconds: 20}
phases: {startup_s: 5, steady_s: 10}
windows: [{name: lead, from_s: 1, to_s: 2}]
timetable: {cycles: 1, pause_s: 1, order: shuffled, seed: 2, start_at: 2026-12-01 18:00 UTC, opening_hours: [daily 01:00-05:00], repeat: {every: day, until: 2026-12-31}}
limits: {attempts: 1, bytes: 2000000000}
weight: 2
sampling: per_ack
deliveries: true
settings: best_effort
primary_metrics: [overall.goodput_bps]
defaults: {sender: {route.initcwnd: 2}, receiver: {route.initcwnd: 2}, relay: {route.initcwnd: 2}}
conditions:
  - name: a
    stop: {bytes: 1000000}
    sender: {route.initcwnd: 3}
    receiver: {route.initcwnd: 3}
    relay: {route.initcwnd: 3}
    flows:
      - {transport: intcp, options: {cache: on}, content: 1, receiver: 2, offer: {message_bytes: 16, every_ms: 5}}
      - {transport: split, cc: cubic, relay_cc: reno, sender: 1, start_s: 1, options: {a: 1}, pacing_rate_bps: 8000}
      - {probe: {every_ms: 100}}
expect: [{metric: overall.goodput_bps, above: 1, below: 2, condition: a, link: x, flow: 1}]
vary: {seconds: [1, 2]}
trigger: {when: {quantity: dish.x, above: 1, for_s: 2, link: x, source: dish}, pause_s: 3, most_per_day: 4, most: 5, until: 2026-12-31}
`,
  `links: [x]
stop: {bytes: 1000000}
timetable: {duration_h: 1, every_s: 60}
trigger: {when: {slot: {every_s: 15, at_s: 12}}}
conditions: [{name: a, stop: {seconds: 20}}]
`,
  `links: [x]
timetable: {}
until: {metric: throughput_bps, phase: steady, flow: 1, half_width_percent: 5, most_cycles: 9}
trigger: {when: {quantity: dish.x, below: 1}}
conditions: [{name: a}]
`,
  'links: [x]\ntimetable: {cycles: 1}\ntrigger: {when: {call: true}}\nconditions: [{name: a}]\n',
]

describe('every key of a campaign file', () => {
  it('is in one of these files', () => {
    const wanted = keysOf(said<Shape>('campaign-schema')).filter((key) => !KEPT.test(key))
    const had = new Set(FILES.flatMap((file) => placesOf(readDraft(file).data)).map(keyOf))
    expect(wanted.filter((key) => !had.has(key))).toEqual([])
  })

  it.each(FILES)('has a place in the form, which says what is wrong with it: %#', async (file) => {
    serve()
    const places = placesOf(readDraft(file).data).filter((place) => !KEPT.test(keyOf(place)))
    await edit(
      file,
      places.map((place) => ({ place, message: `<${place}>` })),
    )
    fireEvent.click(screen.getByText('a', { selector: 'summary strong' }))
    await screen.findByRole('textbox', { name: 'Name of the condition' })
    expect(places.filter((place) => !document.body.textContent.includes(`<${place}>`))).toEqual([])
  })
})

describe('lists that docs/campaign-file.md has too', () => {
  const page = example('campaign-file.md')

  it('options of INTCP have its names, choices and defaults', () => {
    const [, table = ''] = /\| option of `intcp`.*\n(?:\|.*\n)?((?:\|.*\n)+)/.exec(page) ?? []
    const rows = table
      .trim()
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    const listed = rows.map(([, name, takes, initial]) => ({
      name,
      choices: takes?.includes(', ') && !/\d/.test(takes) ? takes.split(', ') : undefined,
      initial: Number(initial?.replaceAll(',', '')) || initial?.replace(/^0$/, '0'),
    }))
    const ours = INTCP_OPTIONS.map(({ name, choices, initial, factor = 1 }) => ({
      name,
      choices: choices?.map(({ value }) => value),
      initial: Number.parseFloat(initial) * factor || (factor > 1 ? '0' : initial),
    }))
    const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }) => (a.name ?? '').localeCompare(b.name ?? '')
    expect(ours.sort(byName)).toEqual(listed.sort(byName))
  })

  it('keys that may be varied are those', () => {
    const [, said = ''] = /It is one key:\n([\s\S]*?)- or what links differ in/.exec(page) ?? []
    const named = [...said.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name).filter((name) => name !== 'offer' && name !== 'intcp')
    const ours = VARIED_KEYS.filter((name) => !INTCP_OPTIONS.some((option) => option.name === name))
    expect([...ours].sort()).toEqual(named.sort())
  })
})
