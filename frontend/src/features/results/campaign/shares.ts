import type { Fairness } from '@/api/types'
import type { HeatCell, HeatGrid } from '@/charts/gridShapes'
import { formatEstimate, formatNumber, formatSigned } from '@/lib/format'
import { phaseTitle } from '@/lib/quantities'
import { MBPS_PER_BPS } from '@/lib/units'

/** How flows shared the link, a cell per condition and phase: Zhao 2022's Figures 7a and 7b. */
export function shareGrids(fairness: readonly Fairness[]): { jain: HeatGrid; difference: HeatGrid } {
  const conditions = [...new Set(fairness.map(({ condition }) => condition))]
  const phases = [...new Set(fairness.map(({ phase }) => phase))]
  const cells = (cellOf: (one: Fairness) => HeatCell | null) =>
    conditions.map((condition) =>
      phases.map((phase) => {
        const found = fairness.find((one) => one.condition === condition && one.phase === phase)
        return found ? cellOf(found) : null
      }),
    )
  const axes = { xName: 'Phase', xs: phases.map(phaseTitle), yName: 'Condition', ys: conditions }
  const differences = fairness.map(({ difference_bps }) => Math.abs(difference_bps.mean ?? 0))
  const most = Math.max(2, ...fairness.map(({ flows }) => flows))
  return {
    jain: { title: "Jain's index", ...axes, cells: cells(jainCell), low: 1 / most, high: 1 },
    difference: {
      title: 'Throughput difference, Mb/s',
      ...axes,
      cells: cells(differenceCell),
      low: 0,
      high: Math.max(...differences),
      isSigned: true,
    },
  }
}

function jainCell({ jain_of_means: value, jain }: Fairness): HeatCell | null {
  return value === null
    ? null
    : { value, text: formatNumber(value, 2), detail: `mean of runs ${formatEstimate(jain, 1, 2)}, n = ${jain.n}` }
}

function differenceCell({ difference_bps: found }: Fairness): HeatCell | null {
  if (found.mean === null) return null
  const detail = `${formatEstimate(found, MBPS_PER_BPS)} Mb/s, n = ${found.n}`
  return { value: found.mean, text: formatSigned(found.mean * MBPS_PER_BPS), detail }
}
