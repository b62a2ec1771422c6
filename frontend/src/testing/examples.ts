import type { Agent, CampaignDetail, Link, OpenSession, Run, RunState, RunSummary, Token } from '@/api/types'

/** Example records in the shapes of docs/api.md, with the hosts and times of docs/protocol. */

export const IDS = {
  running: '01890a5d-ac96-774b-bcce-b302099a8001',
  recorded: '01890a5d-ac96-774b-bcce-b302099a8002',
  competing: '01890a5d-ac96-774b-bcce-b302099a8003',
  draft: '01890a5d-ac96-774b-bcce-b302099a8004',
  imported: '01890a5d-ac96-774b-bcce-b302099a8005',
} as const

const NO_RUNS: CampaignDetail['counts'] = {
  planned: 0,
  leased: 0,
  preparing: 0,
  running: 0,
  restoring: 0,
  uploading: 0,
  complete: 0,
  incomplete: 0,
  failed: 0,
  cancelled: 0,
  missed: 0,
}

export const SOURCE = `# Paper 000's comparison in about four minutes.
name: "Demo: HyStart on and off"
links: [geo-viasat]
stop: {seconds: 35}
phases: {startup_s: 15, steady_s: 5}
timetable: {cycles: 3, pause_s: 0, order: interleaved}
limits: {attempts: 2}
defaults:
  sender: {net.ipv4.tcp_wmem: 4096 16384 60000000}
  receiver: {net.ipv4.tcp_rmem: 4096 131072 60000000}
conditions:
  - {name: HyStart on, sender: {tcp_cubic.hystart: 1}}
  - {name: HyStart off, sender: {tcp_cubic.hystart: 0}}
`

function makeSpec(name: string, conditions: CampaignDetail['spec']['conditions'], seconds: number): CampaignDetail['spec'] {
  return {
    name,
    notes: 'Cubic over an emulated Viasat-like link; buffers large enough that they do not decide (paper 000, Figure 5).',
    links: ['geo-viasat'],
    phases: { startup_s: 15, steady_s: seconds === 35 ? 5 : 60 },
    timetable: { cycles: 3, duration_h: null, every_s: null, pause_s: 0, order: 'interleaved', seed: 1 },
    limits: { attempts: 2, bytes: null },
    sampling: 'polled',
    primary_metrics: ['startup.throughput_bps', 'steady.throughput_bps'],
    conditions: conditions.map((condition) => ({ ...condition, stop: { seconds, bytes: null } })),
  }
}

const flow = (cc: string, sender: number) => ({ cc, sender, start_s: 0, options: {}, pacing_rate_bps: null })
const receiver = { 'net.ipv4.tcp_rmem': '4096 131072 60000000' }
const wmem = { 'net.ipv4.tcp_wmem': '4096 16384 60000000' }
const stop = { seconds: 35, bytes: null }
const HYSTART = [
  { name: 'HyStart on', flows: [flow('cubic', 1)], sender: { ...wmem, 'tcp_cubic.hystart': '1' }, receiver, stop },
  { name: 'HyStart off', flows: [flow('cubic', 1)], sender: { ...wmem, 'tcp_cubic.hystart': '0' }, receiver, stop },
]
const COMPETING = [{ name: 'Cubic against BBR', flows: [flow('cubic', 1), flow('bbr', 2)], sender: wmem, receiver, stop }]

const IMPORTED = [{ name: 'cubic', flows: [flow('cubic', 1)], sender: {}, receiver: {}, stop }]
const IMPORT_SOURCE = {
  file: 'geo-download.json.gz',
  source: 'iperf3',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  test: 'wet day',
  summaries: [
    {
      direction: 'download' as const,
      sent_bps: 98_700_000,
      received_bps: 96_400_000,
      retransmitted_segments: 12,
      duration_s: 20,
      omitted_s: 5,
    },
  ],
}

type CampaignChange = Partial<Omit<CampaignDetail, 'counts'>> &
  Pick<CampaignDetail, 'id' | 'spec'> & { counts?: Partial<CampaignDetail['counts']> }

export function makeCampaign({ counts, ...change }: CampaignChange): CampaignDetail {
  return {
    name: change.spec.name,
    notes: change.spec.notes,
    state: 'complete',
    is_recorded: false,
    origin: 'measured',
    links: change.spec.links,
    conditions: change.spec.conditions.map(({ name }) => name),
    runs_total: 6,
    runs_ended: 6,
    created_at: '2026-01-02T03:00:00.000Z',
    launched_at: '2026-01-02T03:04:05.000Z',
    ended_at: null,
    next_due_at: null,
    report_at: '2026-01-02T03:09:12.000Z',
    source: SOURCE,
    estimate: { runs: 6, bytes: 3_780_000_000, duration_s: 282 },
    ...change,
    counts: { ...NO_RUNS, ...counts },
  }
}

/** One of each: running, recorded and complete, complete with competing flows, imported, draft. */
export function makeCampaigns(launched_at: string): CampaignDetail[] {
  return [
    makeCampaign({
      id: IDS.running,
      spec: makeSpec('Demo: HyStart on and off', HYSTART, 35),
      state: 'running',
      runs_ended: 4,
      counts: { complete: 4, failed: 1, running: 1, planned: 1 },
      launched_at,
    }),
    makeCampaign({
      id: IDS.competing,
      spec: makeSpec('Cubic against BBR over GEO', COMPETING, 120),
      runs_total: 5,
      runs_ended: 5,
      counts: { complete: 5 },
      ended_at: '2026-01-02T03:20:41.000Z',
    }),
    makeCampaign({
      id: IDS.recorded,
      spec: makeSpec('HyStart on and off, recorded', HYSTART, 60),
      is_recorded: true,
      origin: 'recorded',
      counts: { complete: 6 },
      ended_at: '2026-01-02T03:13:20.000Z',
    }),
    makeCampaign({
      id: IDS.imported,
      spec: { ...makeSpec('Field trip, spring', IMPORTED, 60), notes: '', links: ['imported'] },
      origin: 'imported',
      runs_total: 1,
      runs_ended: 1,
      counts: { complete: 1 },
      source: `${IMPORT_SOURCE.sha256}  ${IMPORT_SOURCE.file}\n`,
      launched_at: null,
      report_at: null,
    }),
    makeCampaign({
      id: IDS.draft,
      spec: { ...makeSpec('Detectors, one by one', HYSTART, 35), sampling: 'per_ack' },
      state: 'draft',
      runs_ended: 0,
      launched_at: null,
      report_at: null,
    }),
  ]
}

const pad = (value: number) => String(value).padStart(12, '0')
export const runId = (place: number) => `01890a5d-ac96-774b-9000-${pad(place)}`

interface Place {
  condition: string
  cycle: number
  attempt: number
  state: RunState
}

const PLACES: Place[] = [
  { condition: 'HyStart on', cycle: 1, attempt: 1, state: 'complete' },
  { condition: 'HyStart off', cycle: 1, attempt: 1, state: 'complete' },
  { condition: 'HyStart on', cycle: 2, attempt: 1, state: 'failed' },
  { condition: 'HyStart on', cycle: 2, attempt: 2, state: 'complete' },
  { condition: 'HyStart off', cycle: 2, attempt: 1, state: 'complete' },
  { condition: 'HyStart on', cycle: 3, attempt: 1, state: 'running' },
  { condition: 'HyStart off', cycle: 3, attempt: 1, state: 'planned' },
]

/** The running campaign's runs: one failed and was tried again, one is under way, one is to come. */
export function makeRuns(launched_at: string): RunSummary[] {
  const at = (seconds: number) => new Date(Date.parse(launched_at) + seconds * 1000).toISOString()
  return PLACES.map(({ condition, cycle, attempt, state }, place) => {
    const hasStarted = state !== 'planned'
    const hasEnded = state === 'complete' || state === 'failed'
    const rate_bps = state === 'complete' ? (condition === 'HyStart on' ? 71.4e6 : 112.6e6) + place * 4e5 : null
    return {
      id: runId(place),
      campaign_id: IDS.running,
      link: 'geo-viasat',
      condition,
      cycle,
      position: condition === 'HyStart on' ? 1 : 2,
      attempt,
      state,
      reason: state === 'failed' ? 'agent_lost' : null,
      detail:
        state === 'failed' ? 'The sender geo-server-1 was not heard from for 60 s while it was running; the run is tried again.' : null,
      due_at: at(place * 47),
      started_at: hasStarted ? at(place * 47 + 2.4) : null,
      ended_at: hasEnded ? at(place * 47 + 44.1) : null,
      throughput_bps: rate_bps,
      goodput_bps: rate_bps === null ? null : rate_bps * 0.996,
      import_source: null,
      live: state === 'running' ? { elapsed_s: 21.3, bytes: 142_300_000 } : null,
    }
  })
}

/** The imported campaign's one run. */
export function makeImportedRun(launched_at: string): RunSummary[] {
  const [first] = makeRuns(launched_at)
  return first
    ? [{ ...first, id: runId(60), campaign_id: IDS.imported, link: 'imported', condition: 'cubic', import_source: IMPORT_SOURCE }]
    : []
}

const FINGERPRINT = {
  kernel: '6.18.44',
  boot_id: '0f6a7e0e-5b1f-4d6e-9d9e-0f3e5a8f1c11',
  version: '0.1.0',
  interface: 'eth0',
  qdisc: 'pfifo_fast',
  offloads: { tso: true, gso: true, gro: true },
  clock_offset_ms: 1.5,
  clock_error_ms: 0.4,
}

/** One of the runs recorded every ACK, and dropped some. */
export const isPerAck = (run: RunSummary) => run.condition === 'HyStart off' && run.cycle === 2

/** A run in full, from its row. */
export function makeRun(summary: RunSummary, around: readonly RunSummary[] = [summary]): Run {
  const place = around.findIndex(({ id }) => id === summary.id)
  const hystart = summary.condition === 'HyStart on' ? '1' : '0'
  const isDone = summary.state === 'complete'
  const before = { 'net.ipv4.tcp_wmem': '4096\t16384\t4194304', 'tcp_cubic.hystart': '1', 'net.ipv4.tcp_sack': '1' }
  const during = { 'net.ipv4.tcp_wmem': '4096\t16384\t60000000', 'tcp_cubic.hystart': hystart, 'net.ipv4.tcp_sack': '1' }
  const trace = {
    state: isDone ? ('sealed' as const) : ('expected' as const),
    samples: isDone ? 6985 : 0,
    chunks: isDone ? 2 : 0,
    missing_chunks: [],
    achieved_rate_hz: isDone ? 199.6 : null,
    lateness_mean_us: isDone ? 210.5 : null,
    lateness_max_us: isDone ? 2210 : null,
  }
  const host = { phase: isDone ? 'restored' : 'running', is_restored: isDone ? true : null, differences: [], fingerprint: FINGERPRINT }
  const kinds = ['leased', 'preparing', 'running', 'restoring', 'uploading', summary.state]
  return {
    ...summary,
    campaign_name: 'Demo: HyStart on and off',
    runs_in_cycle: new Set(around.filter(({ cycle }) => cycle === summary.cycle).map(({ position }) => position)).size,
    previous_run_id: around[place - 1]?.id ?? null,
    next_run_id: around[place + 1]?.id ?? null,
    flows: [
      {
        flow: 1,
        sender: 'geo-server-1',
        receiver: 'geo-client',
        asked_cc: 'cubic',
        actual_cc: summary.state === 'planned' ? null : 'cubic',
        cc_version: null,
        cc_options: {},
        hystart_exits: isDone ? { train: Number(hystart), delay: 0 } : null,
        sampling: isDone ? (isPerAck(summary) ? 'per_ack' : 'polled') : null,
        dropped_samples: isDone ? (isPerAck(summary) ? 12 : 0) : null,
        start_s: 0,
        pacing_rate_bps: null,
        throughput_bps: summary.throughput_bps,
        goodput_bps: summary.goodput_bps,
        app_bytes: isDone ? 312_345_678 : null,
        first_byte_us: isDone ? 612_400 : null,
        ended: isDone ? 'stop_rule' : null,
        detail: null,
        time_to_steady_s: isDone ? (hystart === '1' ? 27 : 9) : null,
        traces: { sender: trace, receiver: trace },
      },
    ],
    hosts: [
      {
        ...host,
        agent: 'geo-server-1',
        roles: ['sender'],
        settings_asked: { 'net.ipv4.tcp_wmem': '4096 16384 60000000', 'tcp_cubic.hystart': hystart },
        settings_before: before,
        settings_during: during,
        settings_after: isDone ? before : null,
      },
      {
        ...host,
        agent: 'geo-client',
        roles: ['receiver'],
        settings_asked: { 'net.ipv4.tcp_rmem': '4096 131072 60000000' },
        settings_before: { 'net.ipv4.tcp_rmem': '4096\t131072\t33554432' },
        settings_during: { 'net.ipv4.tcp_rmem': '4096\t131072\t60000000' },
        settings_after: isDone ? { 'net.ipv4.tcp_rmem': '4096\t131072\t33554432' } : null,
      },
    ],
    events: (summary.started_at ? kinds : []).map((kind, index) => ({
      at: new Date(Date.parse(summary.started_at ?? '') + index * 3000).toISOString(),
      kind,
      detail: kind === 'failed' ? summary.detail : null,
    })),
    metrics: [],
    analysis_version: isDone ? '1' : null,
  }
}

const HOST = {
  boot_id: '0f6a7e0e-5b1f-4d6e-9d9e-0f3e5a8f1c11',
  hostname: 'client',
  kernel: '6.18.44',
  os: 'Debian GNU/Linux 12',
  arch: 'amd64',
  cpus: 2,
  roles: ['receiver'],
  congestion_controls: ['bbr', 'cubic', 'dl_hybla', 'reno'],
  controls_unavailable: { dl_vivace: 'this kernel cannot run it: it lacks registration that ends with the process (kernel 6.4)' },
  settings: { 'net.ipv4.tcp_rmem': '4096 131072 33554432', 'tcp_cubic.hystart': '1' },
  settings_writable: ['net.ipv4.tcp_rmem', 'tcp_cubic.hystart'],
  tcp_info_bytes: 280,
  data_host: '203.0.113.7',
  spool_free_bytes: 80_000_000_000,
}

export function makeAgent(change: Partial<Agent> & Pick<Agent, 'id' | 'name'>): Agent {
  return {
    version: '0.1.0',
    status: 'idle',
    is_online: true,
    detail: null,
    run_id: null,
    progress: null,
    spool: [],
    host: HOST,
    links: ['geo-viasat'],
    last_seen_at: '2026-01-02T03:08:00.000Z',
    created_at: '2026-01-02T02:00:00.000Z',
    revoked_at: null,
    ...change,
  }
}

export function makeAgents(last_seen_at: string): Agent[] {
  const sender = { ...HOST, hostname: 'server', roles: ['sender'], data_host: '198.51.100.4' }
  return [
    makeAgent({ id: runId(90), name: 'geo-client', status: 'running', run_id: runId(5), last_seen_at }),
    makeAgent({ id: runId(91), name: 'geo-server-1', status: 'running', run_id: runId(5), host: sender, last_seen_at }),
    makeAgent({
      id: runId(92),
      name: 'geo-server-2',
      status: 'uploading',
      progress: { chunks_done: 2, chunks_total: 7 },
      host: sender,
      last_seen_at,
    }),
    makeAgent({
      id: runId(93),
      name: 'rooftop',
      is_online: false,
      links: [],
      host: { ...HOST, kernel: '5.10.0' },
      last_seen_at: '2026-01-01T22:00:00.000Z',
    }),
  ]
}

export function makeLink(change: Partial<Link> = {}): Link {
  return {
    id: runId(80),
    name: 'geo-viasat',
    orbit: 'GEO',
    operator: 'Viasat-like',
    nominal_rate_bps: 144_000_000,
    base_rtt_ms: 597,
    receiver: 'geo-client',
    senders: ['geo-server-1', 'geo-server-2'],
    allowance_bytes: null,
    is_emulated: true,
    profile: 'geo-viasat',
    run_id: null,
    created_at: '2026-01-02T02:00:00.000Z',
    ...change,
  }
}

/** The visitor's own browser and one at the lab. */
export function makeSessions(created_at: string): OpenSession[] {
  const common = { username: 'admin', created_at, expires_at: '2026-01-09T03:08:20.000Z' }
  return [
    { ...common, id: runId(71), address: '192.0.2.10', browser: 'Firefox/149.0', is_own: true },
    { ...common, id: runId(72), address: '198.51.100.20', browser: 'Chromium/151.0', is_own: false },
  ]
}

export const TOKEN: Token = {
  id: runId(70),
  name: 'Nightly export',
  prefix: 'dlk_7Qm2',
  scopes: ['read'],
  created_by: 'user admin',
  created_at: '2026-01-02T02:00:00.000Z',
  expires_at: '2026-04-02T02:00:00.000Z',
  last_used_at: '2026-01-02T03:00:00.000Z',
}
