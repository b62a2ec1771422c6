import type { CampaignRates, RateSeconds } from '@/api/types'
import { MBPS_PER_BPS } from '@/lib/units'
import type { CdfRow } from './cdf'
import type { LabelledGroup } from './series'

export type RateName = RateSeconds['metric']

/** quantiles: in Mb/s. */
export interface RateRow extends CdfRow {
  runs: number
  rate: RateSeconds
}

export const RATE_TITLES: Record<RateName, string> = { throughput_bps: 'Throughput', goodput_bps: 'Goodput' }
export const RATE_NAMES = Object.keys(RATE_TITLES) as RateName[]

/** Those of the groups that the page shows. A rate that no second has is not among them. */
export function rateRows(found: Pick<CampaignRates, 'groups'>, groups: readonly LabelledGroup[], metric: RateName): RateRow[] {
  return groups.flatMap(({ label, style, group }) => {
    const own = found.groups.find(
      (one) => one.link === group.link && one.condition === group.condition && one.flow === group.flow && one.cc === group.cc,
    )
    const rate = own?.rates.find((one) => one.metric === metric)
    if (!own || !rate || rate.n === 0) return []
    return [{ label, style, runs: own.runs, rate, quantiles: rate.quantiles_bps.map((value) => value * MBPS_PER_BPS) }]
  })
}
