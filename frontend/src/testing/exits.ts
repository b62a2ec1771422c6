import type {
  CampaignExits,
  DetectorExits,
  ExitGroup,
  FlowExits,
  PacketPairs,
  RunExits,
  RunSummary,
  ShareEstimate,
  Verdict,
} from '@/api/types'
import { estimate, randomFrom } from './model.ts'

/** Example exits: a flow that doubles every RTT over a link of 144 Mb/s until its queue overflows. Not a simulation of TCP. */

const [RTT_S, BIN_S, BINS, SECONDS, MSS] = [0.6, 0.21, 10, 12, 1448]
const CAPACITY_BYTES_PER_S = 18e6
const LOSS_S = 8.94
const us = (time_s: number) => Math.round(time_s * 1e6)

/** Bytes sent and delivered up to each bin's end. */
function makeCourses() {
  const times_s = Array.from({ length: Math.floor(SECONDS / BIN_S) }, (_, bin) => (bin + 1) * BIN_S)
  let [sent, delivered] = [0, 0]
  return times_s.map((at_s) => {
    const rate = at_s < LOSS_S ? (10 * MSS * 2 ** (at_s / RTT_S)) / RTT_S / 2.2 : CAPACITY_BYTES_PER_S * 0.7
    sent += rate * BIN_S
    delivered = Math.min(delivered + CAPACITY_BYTES_PER_S * BIN_S, sent * 2 ** (at_s < LOSS_S ? -1 : -0.1))
    return { at_s, sent, delivered, rate }
  })
}

function makeCurves(): NonNullable<FlowExits['curves']> {
  const courses = makeCourses()
  const random = randomFrom(7)
  const windows = courses.map((now, bin) => {
    const [back, start, backStart] = [courses[bin - 3], courses[bin - BINS], courses[bin - BINS - 3]]
    if (!back || !start || !backStart) return null
    const [sent, delivered] = [back.sent - backStart.sent, Math.min(now.delivered - start.delivered, back.sent - backStart.sent)]
    const norm = Math.max(0, (sent - delivered) / sent) + 0.01 * random()
    return { sent, delivered, norm, error: 0.02 * random() }
  })
  return {
    bin_us: us(BIN_S),
    window_us: us(BIN_S * BINS),
    threshold_ratio: 0.25,
    capacity_ratio: 0.1,
    time_us: courses.map(({ at_s }) => us(at_s)),
    sent_bytes: windows.map((one) => one?.sent ?? null),
    delivered_bytes: windows.map((one) => one?.delivered ?? null),
    norm_ratio: windows.map((one) => one?.norm ?? null),
    best_sent_bytes: windows.map((one) => one?.sent ?? null),
    best_norm_ratio: windows.map((one) => (one ? one.norm - one.error : null)),
    error_ratio: windows.map((one) => one?.error ?? null),
  }
}

function makeSenderWindow(): NonNullable<FlowExits['window']> {
  const courses = makeCourses()
  const inSlowStart = courses.filter(({ at_s }) => at_s < LOSS_S).length
  return {
    time_us: courses.map(({ at_s }) => us(at_s)),
    cwnd_segments: courses.map(({ at_s }) => Math.round(10 * 2 ** (Math.min(at_s, LOSS_S) / RTT_S / 1.28) * (at_s < LOSS_S ? 1 : 0.7))),
    ssthresh_segments: courses.map((_, bin) => (bin < inSlowStart ? null : 17_000)),
    rtt_us: courses.map(({ sent, delivered }) => us(RTT_S + Math.min(0.9, (sent - delivered) / 2 / CAPACITY_BYTES_PER_S / 4))),
    acked_bytes: courses.map(({ delivered }) => Math.round(delivered)),
    new_sent_bytes: courses.map(({ sent }) => Math.round(sent)),
    lost_segments: courses.map(({ at_s }) => (at_s < LOSS_S ? 0 : 412)),
  }
}

function makePairs(): PacketPairs[] {
  const random = randomFrom(3)
  return [1, 2, 3, 4, 5].map((round) => {
    const count = round === 1 ? 0 : Math.min(300, 6 * 2 ** round)
    const estimates_mbps = Array.from({ length: count }, () => (random() < 0.06 ? 400 + 900 * random() : 144 * (0.55 + 0.6 * random())))
    return { round, opened_us: us(0.6 * round), estimates_mbps }
  })
}

const COARSE = 'not decidable at this sampling: rows are polls 5.0 ms apart, every single ACK is needed'

type Row = [detector: string, version: string, exit_s: number | null, timing: Verdict['timing'], reason: string, detect?: number]
const ROWS: Row[] = [
  ['observed_exit', 'ssthresh', 2.455, 'early', 'ssthresh is 89 segments from here on'],
  ['first_loss', 'lost or retransmitted', LOSS_S, null, 'the first lost segment'],
  ['search', '1.0', 8.19, 'good', 'norm 0.262 > 0.25'],
  ['search', '3.1', 8.61, 'good', 'norm 36 % >= 35 %'],
  ['search', '4.0', 8.4, 'good', 'norm 28 % >= 26 %'],
  ['hystart', '6.x', 2.452, 'early', 'round minimum 634.1 ms > 609.4 ms + 16 ms', 3],
  ['hystart', '6.x', null, 'late', 'slow start ended with the first loss at 8.940 s; until then no train was long enough', 1],
  ['hystart', '6.x', 2.452, 'early', 'round minimum 634.1 ms > 609.4 ms + 16 ms', 2],
  ['hystart', '5.10', 2.452, 'early', 'round minimum 634.1 ms > 609.4 ms + 16 ms', 3],
  ['hystart', '<=5.4', 3.071, 'early', 'round minimum 631 ms > 609 ms + 16 ms', 3],
  ['hystart++', 'RFC 9406', 5.62, 'early', 'five rounds of conservative slow start'],
  ['best', 'cubic_bw 2022-10', 7.9, 'good', 'window reached ssthresh 7,352 from 141 Mb/s'],
]
const NEEDS_EVERY_ACK = ['hystart', 'hystart++', 'best']

function makeVerdict([detector, version, exit_s, timing, reason, detect]: Row, isPerAck: boolean): Verdict {
  const isDecidable = isPerAck || !NEEDS_EVERY_ACK.includes(detector)
  const exit_us = exit_s === null || !isDecidable ? null : us(exit_s)
  const aim = { ssthresh_segments: 7352, ssthresh_set_us: us(3), estimate_mbps: 141, rtt_us: 604_000, round: 5 }
  return {
    detector,
    version,
    detect: detect ?? null,
    exit_us,
    cwnd_segments: exit_us === null ? null : Math.round(10 * 2 ** ((exit_s ?? 0) / RTT_S / 1.28)),
    cwnd_source: exit_us === null ? null : (exit_s ?? 0) > 2.46 && detector !== 'first_loss' ? 'modelled' : 'recorded',
    parameters: detect === undefined ? {} : { detect, low_window: 16 },
    reason: isDecidable ? reason : COARSE,
    quantities: isDecidable && detector === 'best' ? aim : {},
    is_decidable: isDecidable,
    is_too_late: exit_us !== null && exit_us > us(LOSS_S),
    timing: isDecidable ? timing : null,
  }
}

export function makeFlowExits(isPerAck: boolean): FlowExits {
  return {
    flow: 1,
    cc: 'cubic',
    first_byte_us: 612_400,
    origin_us: 612_400,
    refusal: null,
    analysis_version: '2',
    is_current: true,
    stayed_in_slow_start: !isPerAck,
    capacity: { capacity_us: us(6.11), capacity_basis: 'emulated_rate', capacity_rate_bps: 144e6, least_rtt_us: 562_000 },
    times: { cg_us: us(7.56), ex_us: us(8.19), dp_us: us(LOSS_S), hr_us: us(LOSS_S - 8.19), is_success: true },
    verdicts: ROWS.map((row) => makeVerdict(row, isPerAck)),
    curves: makeCurves(),
    window: makeSenderWindow(),
    packet_pairs: isPerAck ? makePairs() : null,
  }
}

function makeRefused(): FlowExits {
  const nothing = {
    capacity: null,
    stayed_in_slow_start: null,
    times: null,
    verdicts: [],
    curves: null,
    window: null,
    packet_pairs: null,
    origin_us: null,
  }
  return { ...makeFlowExits(false), ...nothing, refusal: 'it has no rows after the first data byte' }
}

/** Every ACK with HyStart on; polls with HyStart off, whose second cycle could not be judged. */
export function makeRunExits(run: RunSummary): RunExits {
  const isOn = run.condition === 'HyStart on'
  const flows = run.state !== 'complete' ? [] : [!isOn && run.cycle === 2 ? makeRefused() : makeFlowExits(isOn)]
  return { run_id: run.id, link: run.link, condition: run.condition, state: run.state, flows }
}

const asValue = ({ mean, low, high, n }: ReturnType<typeof estimate>): ShareEstimate | null =>
  mean === null ? null : { value: mean, low, high, n }

/** Wilson's interval of a share. */
function share(hits: number, n: number): ShareEstimate {
  const [p, z] = [hits / n, 1.96]
  const centre = (p + z ** 2 / (2 * n)) / (1 + z ** 2 / n)
  const half = (z / (1 + z ** 2 / n)) * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2))
  return { value: p, low: Math.max(0, centre - half), high: Math.min(1, centre + half), n }
}

function makeDetector(row: Row, runs: number, isPerAck: boolean, seed: number): DetectorExits {
  const [detector, version, exit_s, , , detect] = row
  const random = randomFrom(seed)
  const isDecidable = isPerAck || !NEEDS_EVERY_ACK.includes(detector)
  const times = isDecidable && exit_s !== null ? Array.from({ length: runs }, () => exit_s * (0.85 + 0.35 * random())) : []
  const exits_s = times.slice(seed % 3 === 0 ? 1 : 0).sort((a, b) => a - b)
  const early = exits_s.filter((at) => at < 7.5).length
  const late = exits_s.filter((at) => at > 8.9).length
  return {
    detector,
    version,
    detect: detect ?? null,
    decidable: isDecidable ? runs : 0,
    undecidable: isDecidable ? 0 : runs,
    exits_s,
    shares:
      isDecidable && detector !== 'first_loss'
        ? {
            early: share(early, runs),
            good: share(exits_s.length - early - late, runs),
            late: share(late, runs),
            open: share(runs - exits_s.length, runs),
          }
        : null,
  }
}

function makeCommon(runs: number): NonNullable<ExitGroup['table']>['common'] {
  const around = (time_s: number) => asValue(estimate(Array.from({ length: runs }, (_, run) => time_s * (0.95 + run / 20))))
  const [cg_s, ex_s, dp_s, hr_s] = [around(7.6), around(8.2), around(8.9), around(0.74)]
  return cg_s && ex_s && dp_s && hr_s ? { cg_s, ex_s, dp_s, hr_s } : null
}

function makeExitGroup(condition: string, runs: number, isPerAck: boolean): ExitGroup {
  const random = randomFrom(runs + condition.length)
  const around = (time_s: number) => asValue(estimate(Array.from({ length: runs }, () => time_s * (0.9 + 0.2 * random()))))
  const success = share(runs - 1, runs)
  const percent = (value: number | null) => (value === null ? null : value * 100)
  return {
    link: 'geo-viasat',
    condition,
    flow: 1,
    cc: 'cubic',
    runs,
    outdated: 0,
    left_early: isPerAck ? 1 : 0,
    bases: { emulated_rate: runs },
    table: {
      runs,
      capacity_s: around(6.1),
      success_percent: { value: success.value * 100, low: percent(success.low), high: percent(success.high), n: runs },
      cg_s: around(7.6),
      ex_s: around(8.2),
      dp_s: around(8.9),
      hr_s: around(0.74),
      success_hr_s: isPerAck ? around(0.8) : null,
      common: makeCommon(runs - 1),
    },
    detectors: ROWS.map((row, place) => makeDetector(row, runs, isPerAck, place + condition.length)),
  }
}

export function makeCampaignExits(campaign_id: string, conditions: readonly string[], runs: number): CampaignExits {
  return { campaign_id, groups: conditions.map((condition, place) => makeExitGroup(condition, runs, place === 0)) }
}
