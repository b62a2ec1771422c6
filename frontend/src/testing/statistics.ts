import type { CampaignStatistics, Comparison, Interval, Report, RunSummary } from '@/api/types'

/** What the smallest visible difference is in deviations, for 2 to 12 cycles at 5 % and 80 % (docs/method.md section 4). */
const VISIBLE_SD = [11.55, 3.264, 2.128, 1.682, 1.435, 1.273, 1.156, 1.067, 0.996, 0.938, 0.889]
/** Beyond the table the normal approximation is near enough for examples. */
const visible = (n: number) => VISIBLE_SD[n - 2] ?? 2.8 / Math.sqrt(n - 2)
/** The fewest cycles that a sign-flip test alone in its family takes. */
const TEST_CYCLES = 6

type Weighed = Pick<
  Comparison,
  | 'cycles_higher'
  | 'cycles_lower'
  | 'reading'
  | 'is_primary'
  | 'family'
  | 'cycles_for_test'
  | 'level_p'
  | 'ks_distance'
  | 'shape_p'
  | 'detectable_difference'
  | 'cycles_needed'
  | 'cycles_missing'
>

function cyclesNeeded({ low, high, sd }: Interval): number | null {
  if (low === null || high === null || sd === null || (low <= 0 && high >= 0)) return null
  let needed = 2
  while (visible(needed) * sd > Math.min(Math.abs(low), Math.abs(high)) && needed < 1000) needed += 1
  return needed
}

/** What the server adds to a comparison: tests of primary metrics where the cycles suffice, and what they can show. */
export function weigh(difference: Interval, differences: readonly number[], is_primary: boolean): Weighed {
  const { n, sd, mean } = difference
  const higher = differences.filter((one) => one > 0).length
  const isTested = is_primary && n >= TEST_CYCLES
  const isOneSided = higher === 0 || higher === n
  const near = cyclesNeeded(difference)
  const needed = near === null || !is_primary ? near : Math.max(near, TEST_CYCLES)
  const shown = isOneSided ? ((mean ?? 0) > 0 ? 'higher' : 'lower') : 'no_difference'
  return {
    cycles_higher: higher,
    cycles_lower: differences.filter((one) => one < 0).length,
    reading: is_primary ? (isTested ? shown : 'too_few') : 'exploratory',
    is_primary,
    family: is_primary ? 1 : null,
    cycles_for_test: is_primary ? TEST_CYCLES : null,
    level_p: isTested ? (isOneSided ? 2 ** (1 - n) : 0.7) : null,
    ks_distance: isTested ? 1 : null,
    shape_p: isTested ? 0.001 : null,
    detectable_difference: sd !== null && n > 1 ? visible(n) * sd : null,
    cycles_needed: needed,
    cycles_missing: needed === null ? null : Math.max(0, needed - n),
  }
}

/** Statistics as the server would take them from a report; the second run stands out. */
export function makeStatistics(report: Report, runs: readonly RunSummary[]): CampaignStatistics {
  const [, odd] = runs
  const place = { link: 'geo-viasat', flow: 1, phase: 'steady' as const, metric: 'throughput_bps' }
  const { campaign_id, primary_metrics, comparisons } = report
  return {
    ...{ campaign_id, primary_metrics, comparisons },
    outliers: odd ? [{ ...place, run_id: odd.id, condition: odd.condition, cycle: odd.cycle, value: 88.2e6, median: 131.4e6 }] : [],
  }
}
