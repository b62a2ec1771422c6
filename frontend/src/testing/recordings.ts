/**
 * What a real server said (backend/tests/answers; backend/tests/fixtures/story.py tells how it came about). Types of the bodies
 * are checked by `node scripts/check-answers.mjs`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { CampaignDetail, RunSummary } from '@/api/types'

interface Recording {
  asked: string
  status: number
  body: unknown
}

/** Seen from the dashboard's folder, where tests and `npm run mock` start. */
const FOLDER = '../backend/tests/answers'

const ALL: ReadonlyMap<string, Recording> = new Map(
  readdirSync(FOLDER).map((file) => [file.replace('.json', ''), JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8'))]),
)
const BY_QUESTION: ReadonlyMap<string, Recording> = new Map([...ALL.values()].map((one) => [one.asked.replace(/\?.*/, ''), one]))

function recordingOf(name: string): Recording {
  const found = ALL.get(name)
  if (!found) throw new Error(`There is no recording ${name}; backend/tests/fixtures/story.py makes them.`)
  return found
}

/** A copy of the recorded answer: its status and body. */
export const answerOf = (name: string) => structuredClone({ status: recordingOf(name).status, body: recordingOf(name).body })

/** A copy of the recorded body. */
export const said = <Body>(name: string): Body => answerOf(name).body as Body

/** What the server said to this very question, if it was asked. */
export function answerTo(method: string, path: string): { status: number; body: unknown } | null {
  const found = BY_QUESTION.get(`${method} ${path}`)
  return found ? structuredClone({ status: found.status, body: found.body }) : null
}

export const CAMPAIGNS = ['running', 'competing', 'acks', 'recorded', 'imported', 'draft'] as const
type CampaignName = (typeof CAMPAIGNS)[number]

export const IDS = Object.fromEntries(CAMPAIGNS.map((name) => [name, said<CampaignDetail>(name).id])) as Record<CampaignName, string>

export const runsOf = (name: CampaignName) => said<{ items: RunSummary[] }>(`${name}-runs`).items

/** A run's id by its place in its campaign's list, from 0. */
export function runId(name: CampaignName, place: number): string {
  const run = runsOf(name)[place]
  if (!run) throw new Error(`${name} has no run ${place}`)
  return run.id
}
