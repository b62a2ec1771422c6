import { QUANTITIES } from './quantities.gen'

export { LIMITS } from './quantities.gen'

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
export const STACKED = pick('throughput_bps', 'rtt_ms', 'rwnd_bytes', 'cwnd_bytes', 'retransmission_percent', 'probe_loss_percent')
/** What a run's charts stack. */
export const RUN_STACKED = pick(
  'throughput_bps',
  'rtt_ms',
  'rwnd_bytes',
  'cwnd_bytes',
  'in_flight_bytes',
  'retransmission_percent',
  'probe_loss_percent',
)
/** Pages show these first, in this order, and all others as they are listed. */
const FIRST: readonly Name[] = ['throughput_bps', 'utilisation_ratio', 'goodput_bps', ...RUN_STACKED.slice(1).map(({ name }) => name)]
const NAMES = [...new Set([...FIRST, ...(Object.keys(QUANTITIES) as Name[])])]

/** Of delivery tables, which few campaigns keep. */
const DELAYS: ReadonlySet<string> = new Set(['one_way_delay_ms', 'in_order_delay_ms', 'jitter_ms'])
/** Of probe flows or delivery tables alone: where there are none, nobody misses them. */
export const isOfSome = ({ name }: { name: string }) => name.startsWith('probe_') || DELAYS.has(name)

type Level = (typeof QUANTITIES)[Name]['level']
type At<Of extends Level> = { [Each in Name]: (typeof QUANTITIES)[Each]['level'] extends Of ? Each : never }[Name]

function listed<Of extends Level>(...levels: Of[]): readonly Quantity<At<Of>>[] {
  return pick(...(NAMES.filter((name) => (levels as Level[]).includes(QUANTITIES[name].level)) as At<Of>[]))
}

/** What there is of each phase. */
export const METRICS = listed('second', 'phase')
/** What there is of an emulated link in each phase, by its log. */
export const LINKED = listed('link')
/** What an emulated link lost of a flow. */
export const LOST = listed('flow on link')
/** When something happened in a run. */
export const EVENT_TIMES = listed('run')

export type Measure = Quantity<string>
/** What runs and conditions are compared by: the metrics of each phase, when a run became steady, and what an emulated link did. */
export const MEASURES: readonly Measure[] = [...METRICS, ...EVENT_TIMES, ...LINKED]

export const PHASES = ['startup', 'steady', 'overall'] as const
const PHASE_TITLES: Readonly<Record<string, string>> = { startup: 'Start-up', steady: 'Steady state', overall: 'Overall' }

/** What pages call a phase. A window of the campaign's own goes by its name. */
export const phaseTitle = (phase: string): string => PHASE_TITLES[phase] ?? phase.replaceAll('_', ' ')

/** The phases of a campaign to choose from: the three that each has, then its windows. */
export const phaseChoices = (windows: readonly { name: string }[]) =>
  [...PHASES, ...windows.map(({ name }) => name)].map((value) => ({ value, label: phaseTitle(value) }))
