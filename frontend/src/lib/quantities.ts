import { MB_PER_BYTE, MBPS_PER_BPS } from './units'

/** A quantity of a flow as pages write it: the API's name, and what its values are shown as. */
interface Shown {
  title: string
  unit: string
  /** Shown unit per API unit. */
  factor: number
  /** The most that it can be, in API units. */
  limit?: number
  /** Most seconds have none: an interval of a second says nothing. */
  isSparse?: boolean
}

/** The one list of what pages show of flows: titles and units are written nowhere else. */
const LIST = {
  throughput_bps: { title: 'Throughput', unit: 'Mb/s', factor: MBPS_PER_BPS },
  utilisation_ratio: { title: 'Utilisation', unit: '% of nominal rate', factor: 100 },
  goodput_bps: { title: 'Goodput', unit: 'Mb/s', factor: MBPS_PER_BPS },
  rtt_ms: { title: 'RTT', unit: 'ms', factor: 1 },
  rwnd_bytes: { title: 'Receive window', unit: 'MB', factor: MB_PER_BYTE },
  cwnd_bytes: { title: 'Congestion window', unit: 'MB', factor: MB_PER_BYTE },
  in_flight_bytes: { title: 'In flight', unit: 'MB', factor: MB_PER_BYTE },
  retransmission_percent: { title: 'Retransmissions', unit: '% of sent bytes', factor: 1, limit: 100, isSparse: true },
  time_to_steady_s: { title: 'Time to steady state', unit: 's', factor: 1 },
  time_to_level_s: { title: 'Time to common level', unit: 's', factor: 1 },
} as const satisfies Record<string, Shown>

type Name = keyof typeof LIST
export type Quantity<Of extends string = Name> = Shown & { name: Of }

function pick<Of extends Name>(...names: Of[]): readonly Quantity<Of>[] {
  return names.map((name) => ({ name, ...LIST[name] }))
}

/** What a campaign's charts stack, from the top down, as in the papers' plots. */
export const STACKED = pick('throughput_bps', 'rtt_ms', 'rwnd_bytes', 'cwnd_bytes', 'retransmission_percent')
/** What a run's charts stack. */
export const RUN_STACKED = pick('throughput_bps', 'rtt_ms', 'rwnd_bytes', 'cwnd_bytes', 'in_flight_bytes', 'retransmission_percent')
/** What there is of each phase. */
export const METRICS = pick(
  'throughput_bps',
  'utilisation_ratio',
  'goodput_bps',
  'rtt_ms',
  'rwnd_bytes',
  'cwnd_bytes',
  'in_flight_bytes',
  'retransmission_percent',
)
/** When something happened in a run. */
export const EVENT_TIMES = pick('time_to_steady_s', 'time_to_level_s')

export const PHASES = ['startup', 'steady', 'overall'] as const
export const PHASE_TITLES = { startup: 'Start-up', steady: 'Steady state', overall: 'Overall' } as const
