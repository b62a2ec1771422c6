import type { CampaignReproduction, ReproducedValue } from '@/api/types'
import { formatEstimate, NO_VALUE } from '@/lib/format'
import { formatShort } from '@/lib/published'
import { phaseTitle } from '@/lib/quantities'

/** One published value, and what each campaign has beside it: null where a campaign does not name it. */
export interface Row {
  name: string
  published: ReproducedValue
  ours: (ReproducedValue | null)[]
}

/** A figure of a paper: the campaigns that reproduce it are its columns. */
export interface Figure {
  paper: string
  figure: string
  campaigns: CampaignReproduction[]
  rows: Row[]
}

/** The figures of all campaigns, by paper, in the order in which they are first named. */
export function figuresOf(items: readonly CampaignReproduction[]): Figure[] {
  const named = items.flatMap(({ figures }) => figures.map(({ paper, figure }) => ({ paper, figure })))
  const papers = [...new Set(named.map(({ paper }) => paper))]
  return papers.flatMap((paper) => {
    const figures = [...new Set(named.filter((one) => one.paper === paper).map(({ figure }) => figure))]
    return figures.map((figure) => figureOf(items, paper, figure))
  })
}

function figureOf(items: readonly CampaignReproduction[], paper: string, figure: string): Figure {
  const valuesOf = (campaign: CampaignReproduction) =>
    campaign.figures.filter((one) => one.paper === paper && one.figure === figure).flatMap(({ values }) => values)
  const campaigns = items.filter((campaign) => valuesOf(campaign).length > 0)
  const all = campaigns.flatMap(valuesOf)
  const rows = [...new Set(all.map(({ name }) => name))].map((name) => ({
    name,
    published: all.find((value) => value.name === name) as ReproducedValue,
    ours: campaigns.map((campaign) => valuesOf(campaign).find((value) => value.name === name) ?? null),
  }))
  return { paper, figure, campaigns, rows }
}

/** "7.52 (7.10–7.96)", with what it is where it is no mean. */
export function oursText({ estimate, low, high, n }: ReproducedValue): string {
  return n === 0 ? NO_VALUE : formatEstimate({ mean: estimate, low, high, n })
}

/** "n = 10 pairs", "n = 5, 2 not reached"; and whether ours is shown to lie within the tolerance. */
export function countText({ n, statistic, not_within, equivalence_p: p }: ReproducedValue): string {
  const pairs = statistic === 'ratio' || statistic === 'difference' ? ' pairs' : ''
  const late = not_within ? `, ${not_within} not reached` : ''
  return `n = ${n}${pairs}${late}${p !== null && p < 0.05 ? ', shown to be within the tolerance' : ''}`
}

export const toleranceText = ({ tolerance, unit }: ReproducedValue): string | null =>
  tolerance === null ? null : `± ${formatShort(tolerance)} ${unit}`.trim()

/** What of ours the value is compared to: "Throughput, start-up: HyStart off over HyStart on". */
export function comparedText(value: ReproducedValue): string {
  const side = ({ condition, flow }: { condition: string; flow: number }) => (flow > 1 ? `${condition}, flow ${flow}` : condition)
  const size = value.object_mb === null ? '' : ` of ${value.object_mb} MB`
  const phase = value.phase === 'overall' ? '' : `, ${phaseTitle(value.phase).toLowerCase()}`
  const other = value.over ? ` over ${side(value.over)}` : value.minus ? ` minus ${side(value.minus)}` : ''
  const there = value.than_link ? `, over ${value.link} against ${value.than_link}` : ''
  return `${value.title}${size}${phase}: ${side(value)}${other}${there}`
}

/** The ends of an axis that holds all intervals of a row and what was published; from 0 where nothing lies below. */
export function spanOf({ published, ours }: Row): { min: number; max: number } {
  const all = [published, ...ours].flatMap((value) =>
    value ? [value.least, value.most, value.n ? value.estimate : null, value.low, value.high] : [],
  )
  const known = all.filter((value): value is number => value !== null)
  const reach = Math.max(...known, 0) - Math.min(...known, 0)
  return { min: Math.min(0, ...known.map((value) => value - reach / 20)), max: Math.max(0, ...known) + reach / 20 }
}
