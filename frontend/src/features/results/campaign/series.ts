import type { CampaignSpec, Group, Phases, SeriesName } from '@/api/types'
import type { Window } from '@/charts/axes'
import type { Level } from '@/charts/axis'
import type { BandSeries } from '@/charts/bands'
import type { LinkLevels } from '@/lib/captions'
import { isOfSome, METRICS, STACKED } from '@/lib/quantities'
import type { ResultsSearch } from './search'

const windowLevel = (link: LinkLevels) => ({
  value: (link.nominal_rate_bps / 8) * (link.base_rtt_ms / 1000),
  label: 'bandwidth-delay product',
})

/** What a chart of the stack draws. */
export type StackedQuantity = (typeof STACKED)[number]

/** The link's own level of a quantity, for a reference line. */
export function levelOf({ name }: StackedQuantity, link: LinkLevels): Level | undefined {
  if (name === 'throughput_bps') return { value: link.nominal_rate_bps, label: 'nominal rate' }
  if (name === 'rtt_ms') return { value: link.base_rtt_ms, label: 'base RTT' }
  return name === 'retransmission_percent' || name === 'probe_loss_percent' ? undefined : windowLevel(link)
}

/** The quantities and metrics of which any group has a value: an empty chart would look like a fault. */
export function knownQuantities(groups: readonly LabelledGroup[]): readonly StackedQuantity[] {
  const known = STACKED.filter(({ name }) => groups.some(({ group }) => group.series[name].mean.some((value) => value !== null)))
  return known.length > 0 ? known : STACKED
}

export function knownMetrics(groups: readonly LabelledGroup[]) {
  const isKnown = ({ name }: (typeof METRICS)[number]) =>
    groups.some(({ group }) => Object.values(group.metrics).some((phase) => phase[name].mean !== null))
  const known = METRICS.filter(isKnown)
  return { known, unknown: METRICS.filter((one) => !known.includes(one) && !isOfSome(one)).map(({ title }) => title) }
}

/** A group of the report with its label and its place in the palette. */
export interface LabelledGroup {
  label: string
  style: number
  group: Group
}

/** One link's groups. Where flows compete, the label tells the flow and its congestion control. */
export function labelGroups(groups: readonly Group[], link: string): LabelledGroup[] {
  const own = groups.filter((group) => group.link === link)
  const isShared = (condition: string) => own.filter((group) => group.condition === condition).length > 1
  return own.map((group, style) => ({
    label: isShared(group.condition) ? `${group.condition}: ${group.cc} (flow ${group.flow})` : group.condition,
    style,
    group,
  }))
}

export function bandSeries(groups: readonly LabelledGroup[], name: SeriesName): BandSeries[] {
  return groups.map(({ label, style, group }) => ({ id: label, label, style, x: group.series.bin_s, band: group.series[name] }))
}

type ObjectBasis = NonNullable<ResultsSearch['objects']>
const OBJECT_TIMES = { sender: 'object_times', requested: 'requested_object_times', receiver: 'received_object_times' } as const

/** Whether any group has object times of this kind. */
export const hasObjects = (groups: readonly LabelledGroup[], basis: ObjectBasis) =>
  groups.some(({ group }) => group[OBJECT_TIMES[basis]].object_mb.length > 0)

export function objectSeries(groups: readonly LabelledGroup[], basis: ObjectBasis): BandSeries[] {
  return groups
    .map(({ label, style, group }) => ({ label, style, times: group[OBJECT_TIMES[basis]] }))
    .filter(({ times }) => times.object_mb.length > 0)
    .map(({ label, style, times }) => ({
      id: label,
      label,
      style,
      x: times.object_mb,
      isUneven: true,
      band: { mean: times.mean_s, low: times.low_s, high: times.high_s, n: times.n },
    }))
}

/** Whether some seconds are means over fewer runs than others, as where runs end at different times. */
export function hasChangingN(groups: readonly LabelledGroup[]): boolean {
  return groups.some(({ group }) => {
    const { n } = group.series.throughput_bps
    return n.length > 0 && (n.at(-1) ?? 0) < Math.max(...n)
  })
}

/** The last bin that any group has. */
export function lastBin(groups: readonly LabelledGroup[]): number {
  return groups.reduce((last, { group }) => Math.max(last, group.series.bin_s.at(-1) ?? 0), 0)
}

/** When all conditions stop after the same number of seconds, that number; otherwise the end differs from run to run. */
export function commonEnd(spec: CampaignSpec): number | null {
  const seconds = spec.conditions.map((condition) => condition.stop.seconds ?? null)
  return seconds.every((value) => value !== null && value === seconds[0]) ? (seconds[0] ?? null) : null
}

/** The phases to shade. Steady state counts from the end of a run, so it is shaded only where runs end together. */
export function phaseWindows(phases: Phases, end_s: number | null): Window[] {
  const startup = { from: 0, to: phases.startup_s, label: 'start-up' }
  if (end_s === null) return [startup]
  return [startup, { from: Math.max(phases.startup_s, end_s - phases.steady_s), to: end_s, label: 'steady state' }]
}

/** The stretch of time that the charts show. */
export function shownRange(range: 'all' | 'startup' | 'steady', windows: readonly Window[], last_s: number): [number, number] {
  const window = range === 'all' ? undefined : windows[range === 'startup' ? 0 : 1]
  if (!window) return [0, Math.max(1, last_s)]
  return [window.from, Math.max(window.from + 1, Math.min(window.to, last_s))]
}
