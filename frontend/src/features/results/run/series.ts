import type { FlowSeries, RunSeries, SeriesName } from '@/api/types'
import type { BandSeries } from '@/charts/bands'
import { isOfSome, RUN_STACKED } from '@/lib/quantities'

/** The quantities of which any flow has a value, and the titles of those that none has. */
export function knownQuantities({ flows }: RunSeries) {
  const isKnown = (name: SeriesName) => flows.some((flow) => flow[name].some((value) => value !== null))
  const known = RUN_STACKED.filter(({ name }) => isKnown(name))
  return { known, unknown: RUN_STACKED.filter((one) => !known.includes(one) && !isOfSome(one)).map(({ title }) => title) }
}

export const flowLabel = (flow: Pick<FlowSeries, 'flow' | 'cc' | 'asked_cc'>) =>
  `Flow ${flow.flow}: ${flow.cc}${flow.cc === flow.asked_cc ? '' : ` (asked: ${flow.asked_cc})`}`

/** One run's flows as chart series: values without intervals. */
export function flowSeries(series: RunSeries, name: SeriesName): BandSeries[] {
  return series.flows.map((flow, style) => {
    const none = flow.bin_s.map(() => null)
    const n = flow[name].map((value) => (value === null ? 0 : 1))
    return { id: flowLabel(flow), label: flowLabel(flow), style, x: flow.bin_s, band: { mean: flow[name], low: none, high: none, n } }
  })
}

export function lastBin(series: RunSeries): number {
  return Math.max(1, ...series.flows.map((flow) => flow.bin_s.at(-1) ?? 0))
}
