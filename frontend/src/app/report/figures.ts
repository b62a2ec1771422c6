import type { CampaignDay, CampaignDetail, CampaignExits, CampaignValues, Report } from '@/api/types'
import type { Figure } from '@/charts/figure'
import { metricOf } from '@/features/days/day'
import { dayFigure } from '@/features/days/figures'
import { exitsFigure } from '@/features/exits/campaign/figures'
import { decidableOf, groupLabel } from '@/features/exits/campaign/groups'
import { objectsFigure, sharesFigure, stackFigure } from '@/features/results/campaign/figures'
import { OBJECT_BASES } from '@/features/results/campaign/search'
import { commonEnd, hasObjects, knownQuantities, labelGroups, lastBin, phaseWindows, shownRange } from '@/features/results/campaign/series'
import { areFew, MOST_OVERLAID } from '@/features/results/campaign/stack'
import { sidesAt, spreadRows } from '@/features/statistics/distributions'
import { differencesFigure, distributionFigure } from '@/features/statistics/figures'
import { canTell } from '@/features/statistics/measures'
import type { LinkLevels } from '@/lib/captions'
import { MEASURES } from '@/lib/quantities'

/** Exit times are drawn for so many groups; the campaign's page has them all. */
const MOST_EXITS = 4
/** Columns of a figure that are drawn beside each other on a page. */
const ABREAST = 4

export interface Drawable {
  campaign: CampaignDetail
  report: Report
  day: CampaignDay
  exits: CampaignExits | null
  values: CampaignValues | null
  links: readonly LinkLevels[]
}

/** The first primary metric, as phase and name. A time to an event is of the whole run. */
export function firstPrimary({ primary_metrics: [first] }: { primary_metrics: readonly string[] }): { phase: string; metric: string } {
  const [phase, metric] = (first ?? 'startup.throughput_bps').split('.')
  return metric ? { phase: phase ?? 'overall', metric } : { phase: 'overall', metric: phase ?? 'throughput_bps' }
}

/** Every figure that the campaign has something for, link by link: drawn by the functions that draw saved figures. */
export function reportFigures(known: Drawable): Figure[] {
  const names = [...new Set(known.report.groups.map(({ link }) => link))]
  return [...names.flatMap((link) => linkFigures(known, link)), ...exitFigures(known), ...overTime(known)]
}

function linkFigures({ campaign, report, values, links }: Drawable, name: string): Figure[] {
  const link = links.find((one) => one.name === name)
  const source = { campaign: campaign.name, link, linkName: name, analysisVersion: report.analysis_version }
  const groups = labelGroups(report.groups, name)
  const windows = phaseWindows(report.phases, commonEnd(campaign.spec))
  const [from, to] = shownRange('all', windows, lastBin(groups))
  const shown = { link, windows, from, to, hasBands: true }
  const found = [stackFigure({ groups, quantities: knownQuantities(groups), shown, isSplit: groups.length > MOST_OVERLAID, source })]
  const { phase, metric: wanted } = firstPrimary(report)
  const metric = MEASURES.find((one) => one.name === wanted)
  if (metric && values) {
    const flows = [...new Set(values.sides.filter((side) => side.link === name).map(({ flow }) => flow))]
    for (const flow of flows) {
      const rows = spreadRows(sidesAt(values, name, flow), metric.factor)
      if (rows.some(({ dots }) => dots.length > 0)) {
        const own = distributionFigure({ phase: values.phase, metric }, rows, source)
        const drawn = { ...own, title: `${own.title}: every run` }
        found.push(flows.length > 1 ? { ...drawn, caption: `Flow ${flow}. ${drawn.caption}` } : drawn)
      }
    }
  }
  if (metric) {
    const compared = report.comparisons.filter((one) => one.link === name && one.metric === wanted && one.phase === phase && one.flow <= 1)
    if (canTell(compared)) found.push(differencesFigure({ link: name, flow: 1, phase, metric }, compared, campaign.conditions, source))
  }
  const fairness = report.fairness.filter((one) => one.link === name)
  if (fairness.length > 0) found.push(sharesFigure(fairness, source))
  const basis = OBJECT_BASES.find((one) => hasObjects(groups, one))
  if (basis) found.push(objectsFigure(groups, basis, !areFew(groups), source))
  return found
}

function exitFigures({ campaign, report, exits }: Drawable): Figure[] {
  const groups = (exits?.groups ?? []).filter((group) => decidableOf(group).length > 0)
  return groups.slice(0, MOST_EXITS).map((group) => {
    const source = { campaign: campaign.name, linkName: group.link, analysisVersion: report.analysis_version }
    const label = groupLabel(group, exits?.groups ?? [])
    return { ...exitsFigure(decidableOf(group), label, source), title: `Exit times, ${label}` }
  })
}

/** Imported files say of themselves when they were measured, if at all. */
function overTime({ campaign, report, day }: Drawable): Figure[] {
  if (campaign.origin === 'imported' || day.runs.length < 2) return []
  const source = { campaign: campaign.name, analysisVersion: report.analysis_version }
  return [dayFigure({ day, conditions: campaign.conditions, metric: metricOf(day.metric), link: null, source })]
}

/** A figure of many columns as several that each fit on a page, with about as many columns each. */
export function partsOf(figure: Figure): Figure[] {
  const count = Math.ceil(figure.columns.length / ABREAST)
  if (count <= 1) return [figure]
  const size = Math.ceil(figure.columns.length / count)
  return Array.from({ length: count }, (_, index) => ({
    ...figure,
    columns: figure.columns.slice(index * size, (index + 1) * size),
    legend: index === 0 ? figure.legend : [],
  }))
}
