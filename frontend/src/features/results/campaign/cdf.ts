import type { CampaignReproduction } from '@/api/types'
import type { Curve, CurvePoint } from '@/charts/curves'
import { roundStep } from '@/charts/ticks'
import { publishedText, READINGS } from '@/lib/published'
import type { LabelledGroup } from './series'

/** A condition's distribution, with the label and the colour that it has on the page. quantiles: at common shares; empty for none. */
export interface CdfRow {
  label: string
  style: number
  quantiles: readonly number[]
}

/** What is drawn ends where all conditions have this share of their values: the last ones may be far out. */
export const DRAWN_SHARE = 0.99

/** What was published of a condition's distribution. points: the number, or each end of a range or bound. sentence: with whether it holds. */
export interface PublishedShare {
  label: string
  points: CurvePoint[]
  sentence: string
}

/** Of a metric of the conditions that the page shows. */
export function publishedShares(
  found: Pick<CampaignReproduction, 'figures'> | undefined,
  groups: readonly LabelledGroup[],
  metric: string,
): PublishedShare[] {
  const values = (found?.figures ?? []).flatMap((figure) => figure.values)
  return values.flatMap((value): PublishedShare[] => {
    const { link, condition, flow, share, least, most } = value
    const own = groups.find(({ group }) => group.link === link && group.condition === condition && group.flow === flow)
    if (value.metric !== metric || share == null || !own) return []
    const { label, style } = own
    const text = publishedText(value)
    const ends = [...new Set([least, most])].filter((end) => end !== null)
    const points = ends.map((x, index) => ({
      id: `${value.name} ${x}`,
      x,
      y: 100 * share,
      style,
      text: index < ends.length - 1 ? '' : text,
    }))
    return [{ label, points, sentence: `${label}: ${text} (${READINGS[value.reading]})` }]
  })
}

/** Cumulative shares in percent over a common x; a step at each quantile that is known. The axis reaches the points, too. */
export function cdfCurves(
  rows: readonly CdfRow[],
  shares: readonly number[],
  published: readonly PublishedShare[] = [],
): { from: number; to: number; x: number[]; curves: Curve[]; points: CurvePoint[] } {
  const drawn = rows.filter(({ quantiles }) => quantiles.length > 0)
  const points = published.flatMap((one) => one.points)
  const [from, to] = cdfSpan(
    drawn,
    shares,
    points.map(({ x }) => x),
  )
  const values = drawn.flatMap(({ quantiles }) => quantiles).filter((value) => value > from && value < to)
  const x = [from, ...[...new Set(values)].sort((a, b) => a - b), to]
  const curves = drawn.map(({ label, style, quantiles }) => {
    let reached = 0
    const y = x.map((at) => {
      while (reached < shares.length && (quantiles[reached] ?? Number.POSITIVE_INFINITY) <= at) reached += 1
      return reached === 0 ? 0 : 100 * (shares[reached - 1] ?? 0)
    })
    return { id: label, label, style, y }
  })
  return { from, to, x, curves, points }
}

/** Round numbers around what is drawn; from zero where it comes near it. */
function cdfSpan(drawn: readonly CdfRow[], shares: readonly number[], beside: readonly number[]): [number, number] {
  const last = shares.findIndex((share) => share >= DRAWN_SHARE - 1e-9)
  const least = Math.min(...drawn.map(({ quantiles }) => quantiles[0] ?? 0), ...beside)
  const most = Math.max(...drawn.map(({ quantiles }) => quantiles[last] ?? 0), ...beside)
  if (!Number.isFinite(least) || !Number.isFinite(most)) return [0, 1]
  const low = least < 0.4 * most ? 0 : least
  const step = roundStep(most > low ? most - low : most || 1, 5)
  const multiple = (count: number) => Number((count * step).toPrecision(12))
  const [first, end] = [Math.floor(low / step + 1e-9), Math.ceil(most / step - 1e-9)]
  return [multiple(first), multiple(end > first ? end : first + 1)]
}
