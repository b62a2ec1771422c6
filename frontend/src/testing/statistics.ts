import type { CampaignStatistics, Evidence, Report, RunSummary } from '@/api/types'

/** What the smallest visible difference is in deviations, for 2 to 12 cycles at 5 % and 80 % (docs/method.md section 4). */
const VISIBLE_SD = [11.55, 3.264, 2.128, 1.682, 1.435, 1.273, 1.156, 1.067, 0.996, 0.938, 0.889]
/** Beyond the table the normal approximation is near enough for examples. */
const visible = (n: number) => VISIBLE_SD[n - 2] ?? 2.8 / Math.sqrt(n - 2)

function weigh(comparison: Report['comparisons'][number], place: number): Evidence {
  const { n, sd, mean } = comparison.difference
  const isKnown = sd !== null && mean !== null && n > 1
  let needed = 2
  while (isKnown && visible(needed) * sd > Math.abs(mean) && needed < 1000) needed += 1
  const hasTests = n > 2
  return {
    ...comparison,
    detectable_difference: isKnown ? visible(n) * sd : null,
    cycles_needed: isKnown ? needed : null,
    cycles_missing: isKnown ? Math.max(0, needed - n) : null,
    ks_distance: hasTests ? (place % 2 ? 0.33 : 1) : null,
    shape_p: hasTests ? (place % 2 ? 1 : 0.024) : null,
    location_p: hasTests ? (place % 2 ? 0.7 : 0.0004) : null,
  }
}

/** Statistics as the server would make them of a report; the second run stands out. */
export function makeStatistics(report: Report, runs: readonly RunSummary[]): CampaignStatistics {
  const [, odd] = runs
  const place = { link: 'geo-viasat', flow: 1, phase: 'steady' as const, metric: 'throughput_bps' }
  return {
    campaign_id: report.campaign_id,
    comparisons: report.comparisons.map(weigh),
    outliers: odd ? [{ ...place, run_id: odd.id, condition: odd.condition, cycle: odd.cycle, value: 88.2e6, median: 131.4e6 }] : [],
  }
}
