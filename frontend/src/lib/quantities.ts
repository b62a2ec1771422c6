import { QUANTITIES } from './quantities.gen'

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

/** Most seconds have none. */
const SPARSE: ReadonlySet<string> = new Set(['retransmission_percent'])

type Name = keyof typeof QUANTITIES
export type Quantity<Of extends string = Name> = Shown & { name: Of }

function pick<Of extends Name>(...names: Of[]): readonly Quantity<Of>[] {
  return names.map((name) => ({ name, ...QUANTITIES[name], isSparse: SPARSE.has(name) }))
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
