import type { Agent, CampaignDetail, Link, OpenSession, Report, RunSummary, SatellitePath, Session, Sweep, Token } from '@/api/types'
import { numberedId } from './ids.ts'
import { answerOf, CAMPAIGNS, IDS, runsOf, said } from './recordings.ts'

/** What tests change of the stand-in server; all else it says as it was recorded. */
export interface World {
  isSetupNeeded: boolean
  isConducting: boolean
  session: Session | null
  campaigns: CampaignDetail[]
  runs: Record<string, RunSummary[]>
  reports: Record<string, Report>
  agents: Agent[]
  links: Link[]
  tokens: Token[]
  sessions: OpenSession[]
  /** What an import is refused for; none lets it in. */
  refusedFiles: { file: string; reason: string }[]
  /** The condition that the last import named. */
  importedUnder: string | null
  sweeps: Sweep[]
  paths: SatellitePath[]
  /** What was noted since. */
  annotations: object[]
  /** By path: what is said instead of the recording. */
  instead: Record<string, unknown>
}

const itemsOf = <Item>(name: string) => said<{ items: Item[] }>(name).items

export function makeWorld(): World {
  const reports = CAMPAIGNS.filter((name) => answerOf(`${name}-report`).status === 200)
  return {
    isSetupNeeded: false,
    isConducting: true,
    session: said('session'),
    campaigns: CAMPAIGNS.map((name) => said<CampaignDetail>(name)),
    runs: Object.fromEntries(CAMPAIGNS.map((name) => [IDS[name], runsOf(name)])),
    reports: Object.fromEntries(reports.map((name) => [IDS[name], said<Report>(`${name}-report`)])),
    agents: itemsOf('agents'),
    links: itemsOf('links'),
    tokens: itemsOf('tokens'),
    sessions: itemsOf('sessions'),
    refusedFiles: [],
    importedUnder: null,
    paths: itemsOf('paths'),
    sweeps: withFailed(itemsOf<Sweep>('recorded-sweeps')),
    annotations: [],
    instead: {},
  }
}

/** One that ended well, and one that did not. */
function withFailed([sweep]: Sweep[]): Sweep[] {
  if (!sweep) throw new Error('no sweep was recorded')
  const failed: Partial<Sweep> = { state: 'failed', reason: 'A trace failed 5 times; the worker’s log says why.', done: 2, cells: null }
  return [sweep, { ...sweep, ...failed, id: numberedId(), grid: { bins: [10, 12] } }]
}
