/** Campaigns to start from: files of docs/examples, which the server's tests read, plan and launch. */
import type { Link } from '@/api/types'
import { editAll, type Path, readDraft } from './document'

export interface Template {
  key: string
  title: string
  /** What it answers. */
  answers: string
  /** Of which paper it gives a figure. */
  figure: string
  /** Below docs/examples. */
  file: string
  /** The link that each place of `links` should be of, in order. */
  orbits: readonly Link['orbit'][]
  senders: number
}

const GEO = { orbits: ['GEO'], senders: 1 } as const

export const TEMPLATES: readonly Template[] = [
  {
    key: 'hystart',
    title: 'HyStart on and off',
    answers: 'How much start-up throughput does leaving slow start early cost over a long path?',
    figure: 'Peters 2021, Figure 5',
    file: 'hystart-on-off.yaml',
    ...GEO,
  },
  {
    key: 'detectors',
    title: 'HyStart’s detectors',
    answers: 'Which of HyStart’s two detectors ends slow start, and what does each cost alone and beside another flow?',
    figure: 'Peters 2021, Figures 7 and 8',
    file: 'paper-000-detectors.yaml',
    ...GEO,
  },
  {
    key: 'buffers',
    title: 'Buffer study',
    answers: 'What do four receive buffers, two send buffers and the receiver’s autotuning let through? 16 conditions.',
    figure: 'Peters 2021, Figures 2 to 4',
    file: 'studies/000-a-buffers.yaml',
    ...GEO,
  },
  {
    key: 'objects',
    title: 'Object download times',
    answers: 'How long does an object of each size up to a gigabyte take, with HyStart on and off?',
    figure: 'Peters 2021, Figure 6',
    file: 'studies/000-b-gigabyte.yaml',
    ...GEO,
  },
  {
    key: 'pairs',
    title: 'Competing controls',
    answers: 'How do two controls share a link from two senders: who gets how much, in start-up and in steady state?',
    figure: 'Zhao 2022, Figures 2 to 7',
    file: 'paper-001-pairs.yaml',
    orbits: ['GEO'],
    senders: 2,
  },
  {
    key: 'search-day',
    title: 'SEARCH over 24 hours',
    answers: 'Does SEARCH leave slow start at the right moment at every hour of a day, beside HyStart and no detector?',
    figure: 'Kachooei 2023, Table I, by the hour',
    file: 'search-24-hours.yaml',
    ...GEO,
  },
  {
    key: 'controls',
    title: 'Every control alone',
    answers: 'What does each control reach alone on the link, and at what round-trip time and loss?',
    figure: 'The table of the study of controls',
    file: 'study-controls.yaml',
    ...GEO,
  },
  {
    key: 'initial-window',
    title: 'Initial window',
    answers: 'How much sooner does a small object arrive with 25, 50 or 100 segments in the first round trip?',
    figure: 'The curve of object times, as Peters 2021, Figure 6',
    file: 'initial-window.yaml',
    ...GEO,
  },
  {
    key: 'orbits',
    title: 'GEO and LEO side by side',
    answers: 'Do the same controls behave alike over both orbits, with the same settings in the same hours?',
    figure: 'Peters 2021, Figure 5, for each orbit',
    file: 'geo-and-leo.yaml',
    orbits: ['GEO', 'LEO'],
    senders: 1,
  },
]

const FILES = import.meta.glob<string>(['../../../../docs/examples/*.yaml', '../../../../docs/examples/studies/000-*.yaml'], {
  query: '?raw',
  import: 'default',
})

export const findTemplate = (key: string | undefined) => TEMPLATES.find((template) => template.key === key)

/** The template's file, over links that there are. */
export async function loadTemplate(template: Template, links: readonly Link[]): Promise<string> {
  const load = FILES[`../../../../docs/examples/${template.file}`]
  if (!load) throw new Error(`There is no example ${template.file}.`)
  return fitted(await load(), template, links)
}

/** Its own title as the name, and links that exist where there are some of the orbit. */
export function fitted(text: string, { title, orbits, senders }: Template, links: readonly Link[]): string {
  const asked = readDraft(text).data?.links
  const names = Array.isArray(asked) ? asked.map(String) : []
  const chosen: string[] = []
  for (const [index, orbit] of orbits.entries()) {
    const free = links.filter(({ name }) => !chosen.includes(name))
    const roomy = free.filter((link) => link.senders.length >= senders)
    const found = roomy.find((link) => link.orbit === orbit) ?? (orbits.length === 1 ? (roomy[0] ?? free[0]) : undefined)
    chosen.push(found?.name ?? names[index] ?? orbit)
  }
  const isSame = JSON.stringify(chosen) === JSON.stringify(names)
  const changes: [Path, unknown][] = [[['name'], title]]
  return editAll(text, isSame ? changes : [...changes, [['links'], chosen]])
}
