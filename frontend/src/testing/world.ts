import type {
  Agent,
  CampaignDetail,
  CampaignPreview,
  Link,
  OpenSession,
  Report,
  RunSeries,
  RunSummary,
  Session,
  Sweep,
  Token,
} from '@/api/types'
import { IDS, makeAgents, makeCampaigns, makeImportedRun, makeLink, makeRuns, makeSessions, runId, TOKEN } from './examples.ts'
import { makeCourse } from './model.ts'
import { makeReport } from './reports.ts'
import { makeSweeps } from './sweeps.ts'

/** All that the stand-in server knows. Tests change what they are about. */
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
}

const HYSTART = [
  { condition: 'HyStart on', flow: 1, cc: 'cubic', half_s: 17, steepness: 3.4, top_bps: 134e6 },
  { condition: 'HyStart off', flow: 1, cc: 'cubic', half_s: 6, steepness: 1.1, top_bps: 137e6 },
]
const COMPETING = [
  { condition: 'Cubic against BBR', flow: 1, cc: 'cubic', half_s: 20, steepness: 6, top_bps: 16e6 },
  { condition: 'Cubic against BBR', flow: 2, cc: 'bbr', half_s: 9, steepness: 2, top_bps: 122e6 },
]

export function makeWorld(now_ms = Date.parse('2026-01-02T03:08:20Z')): World {
  const launched_at = new Date(now_ms - 258_000).toISOString()
  const plan = { link: 'geo-viasat', startup_s: 15 }
  return {
    isSetupNeeded: false,
    isConducting: true,
    session: { username: 'admin', kind: 'session', scopes: ['read', 'write', 'admin'], expires_at: null },
    campaigns: makeCampaigns(launched_at),
    runs: { [IDS.running]: makeRuns(launched_at), [IDS.imported]: makeImportedRun(launched_at) },
    reports: {
      [IDS.running]: makeReport({ ...plan, campaign_id: IDS.running, seconds: 35, steady_s: 5, cycles: 2, flows: HYSTART }),
      [IDS.recorded]: makeReport({
        ...plan,
        campaign_id: IDS.recorded,
        seconds: 60,
        steady_s: 20,
        cycles: 3,
        flows: HYSTART,
        gap: [41, 45],
      }),
      [IDS.competing]: makeReport({ ...plan, campaign_id: IDS.competing, seconds: 120, steady_s: 60, cycles: 5, flows: COMPETING }),
    },
    agents: makeAgents(new Date(now_ms - 8_000).toISOString()),
    links: [
      makeLink({ run_id: runId(5) }),
      makeLink({
        id: runId(81),
        name: 'leo-starlink',
        orbit: 'LEO',
        operator: 'Starlink-like',
        nominal_rate_bps: 1e8,
        base_rtt_ms: 40,
        profile: 'leo-starlink',
        allowance_bytes: 5e11,
      }),
    ],
    tokens: [TOKEN],
    sessions: makeSessions(new Date(now_ms).toISOString()),
    refusedFiles: [],
    importedUnder: null,
    sweeps: makeSweeps(),
  }
}

const NO_SECONDS = {
  ...{ bin_s: [], throughput_bps: [], goodput_bps: [], rtt_ms: [], rwnd_bytes: [] },
  ...{ cwnd_bytes: [], retransmission_percent: [], in_flight_bytes: [] },
}

export function makeRunSeries(run: RunSummary): RunSeries {
  const asked = { flow: 1, cc: 'cubic', asked_cc: 'cubic' }
  // The flows that were planned are there whatever came of them, without a second.
  if (run.state !== 'complete') return { run_id: run.id, flows: [{ ...asked, ...NO_SECONDS }] }
  const half_s = run.condition === 'HyStart on' ? 17 : 6
  const course = makeCourse({ seconds: 35, half_s, steepness: 2, top_bps: 135e6, base_rtt_ms: 597, seed: run.cycle })
  return { run_id: run.id, flows: [{ ...asked, bin_s: course.rtt_ms.map((_, k) => k), ...course }] }
}

export function makePreview(campaign: CampaignDetail): CampaignPreview {
  const places = [1, 2, 3].flatMap((cycle) => campaign.conditions.map((condition, index) => ({ condition, cycle, position: index + 1 })))
  return {
    campaign: campaign.spec,
    runs: places.map((place, index) => ({ ...place, link: 'geo-viasat', due_s: index * 47, duration_s: 44 })),
    estimate: campaign.estimate,
    conflicts: [
      {
        code: 'link_held',
        is_blocking: false,
        is_waivable: false,
        message: 'A run on geo-viasat and one of “Demo: HyStart on and off” both need the link at 0 s (3 overlaps).',
      },
    ],
  }
}
