/**
 * The figures of a campaign where no page is open: what `downlink campaigns figure` runs, over the API's answers. It draws by the
 * same functions as the pages. Built apart (`vite.figures.ts`), without React and without anything of a browser.
 */
import type {
  CampaignDay,
  CampaignDelays,
  CampaignDetail,
  CampaignExits,
  CampaignRates,
  CampaignReproduction,
  CampaignValues,
  Link,
  Report,
} from '@/api/types'
import { type Figure, type FigureWidth, figureCsv, figureSvg } from '@/charts/figure'
import { metricOf } from '@/features/days/day'
import { dayFigure } from '@/features/days/figures'
import { exitsFigure } from '@/features/exits/campaign/figures'
import { decidableOf, groupLabel } from '@/features/exits/campaign/groups'
import { publishedShares } from '@/features/results/campaign/cdf'
import { DELAY_WORDS, delayRows } from '@/features/results/campaign/delays'
import { delaysFigure, objectsFigure, ratesFigure, sharesFigure, stackFigure, variedFigure } from '@/features/results/campaign/figures'
import { RATE_NAMES, RATE_TITLES, rateRows } from '@/features/results/campaign/rates'
import { OBJECT_BASES } from '@/features/results/campaign/search'
import { commonEnd, hasObjects, knownQuantities, labelGroups, lastBin, phaseWindows, shownRange } from '@/features/results/campaign/series'
import { areFew, MOST_OVERLAID } from '@/features/results/campaign/stack'
import { placeNames, variedOf, variedRatios, variedValues } from '@/features/results/campaign/varied'
import { sidesAt, spreadRows } from '@/features/statistics/distributions'
import { distributionFigure } from '@/features/statistics/figures'
import { MEASURES, METRICS, phaseTitle } from '@/lib/quantities'

export interface FigureRequest {
  kind: 'stack' | 'heatmap' | 'objects' | 'exits' | 'ecdf' | 'day' | 'delays' | 'jitter' | 'rates' | 'varied' | 'ratios'
  format: 'svg' | 'csv'
  width: FigureWidth
  hasCaption: boolean
  /** Null: the first one. */
  link: string | null
  condition: string | null
  campaign: CampaignDetail
  /** What the kind needs. */
  report: Report | null
  exits: CampaignExits | null
  values?: CampaignValues | null
  day: CampaignDay | null
  delays?: CampaignDelays | null
  rates?: CampaignRates | null
  reproduction?: CampaignReproduction | null
  phase?: string
  metric?: string
  links: Link[]
}

/** The file's text; a sentence in an Error where the campaign has nothing to draw. */
export function draw(request: FigureRequest): string {
  const figure = figureOf(request)
  return request.format === 'csv' ? figureCsv(figure) : figureSvg(figure, request)
}

function figureOf(request: FigureRequest): Figure {
  const { kind, campaign } = request
  if (kind === 'exits') return exits(request)
  if (kind === 'ecdf') return ecdf(request)
  if (kind === 'day') return day(request)
  const report = request.report
  if (!report || report.groups.length === 0) throw new Error('The campaign has no results yet: they come with its first complete runs.')
  const link = pick([...new Set(report.groups.map((group) => group.link))], request.link, 'link')
  const facts = request.links.find(({ name }) => name === link)
  const source = { campaign: campaign.name, link: facts, linkName: link, analysisVersion: report.analysis_version }
  const groups = labelGroups(report.groups, link)
  if (kind === 'heatmap') {
    const fairness = report.fairness.filter((one) => one.link === link)
    if (fairness.length === 0) throw new Error('A heat map shows how competing flows share the link; no condition here has several flows.')
    return sharesFigure(fairness, source)
  }
  if (kind === 'objects') {
    const basis = OBJECT_BASES.find((one) => hasObjects(groups, one))
    if (!basis) throw new Error('No object time is known of these runs.')
    return objectsFigure(groups, basis, !areFew(groups), source)
  }
  if (kind === 'delays' || kind === 'jitter') {
    const own = kind === 'jitter' ? 'jitter' : 'one_way_delay'
    const rows = delayRows(request.delays ?? { groups: [] }, groups, own)
    if (rows.every(({ delay }) => delay.n === 0))
      throw new Error('No delay is known of these runs: delivery tables come with deliveries: true in the campaign file.')
    const published = publishedShares(request.reproduction ?? undefined, groups, DELAY_WORDS[own].metric)
    return delaysFigure({ rows, published, shares: request.delays?.shares ?? [], kind: own, source })
  }
  if (kind === 'rates') {
    const asked = request.metric ?? 'throughput_bps'
    const rate = RATE_NAMES.find((name) => name === asked)
    if (!rate) throw new Error(`Rates of single seconds are ${RATE_NAMES.join(' and ')}, and not ${asked}.`)
    const rows = rateRows(request.rates ?? { groups: [] }, groups, rate)
    if (rows.length === 0) throw new Error(`No ${RATE_TITLES[rate].toLowerCase()} is known of the seconds of these runs.`)
    const published = publishedShares(request.reproduction ?? undefined, groups, rate)
    return ratesFigure({ rows, published, shares: request.rates?.shares ?? [], metric: rate, source })
  }
  if (kind === 'varied' || kind === 'ratios') return varied(request, report, link)
  if (kind !== 'stack')
    throw new Error(`This server's dashboard draws no figure of the kind ${String(kind)}: it is older than the command.`)
  const windows = phaseWindows(report.phases, commonEnd(campaign.spec))
  const [from, to] = shownRange('all', windows, lastBin(groups))
  const shown = { link: facts, windows, from, to, hasBands: true }
  return stackFigure({ groups, quantities: knownQuantities(groups), shown, isSplit: groups.length > MOST_OVERLAID, source })
}

/** A metric over what the campaign varied. */
function varied(
  { kind, campaign, metric: name, phase = 'overall', reproduction, values, links }: FigureRequest,
  report: Report,
  link: string,
): Figure {
  const found = variedOf(campaign.spec)
  if (!found) throw new Error('The campaign varied nothing that is a number: vary in its file names a key and its values.')
  const metric = METRICS.find((one) => one.name === name) ?? METRICS[0]
  if (!metric) throw new Error(`There is no metric ${name}.`)
  const isRatio = kind === 'ratios'
  const asked = {
    spec: campaign.spec,
    varied: found,
    report,
    reproduction: reproduction ?? undefined,
    values: values ?? undefined,
    link,
    phase,
    metric,
  }
  const plot = isRatio ? variedRatios(asked) : variedValues(asked)
  if (plot.series.length === 0)
    throw new Error(
      isRatio && !found.isOfLinks
        ? 'Ratios are drawn over what links differ in: there the first condition runs beside all others.'
        : `No run has the quantity ${metric.name} in the phase ${phase}.`,
    )
  return variedFigure({
    ...plot,
    xNames: placeNames(found),
    xTitle: found.key,
    title: `${metric.title}, ${phaseTitle(phase).toLowerCase()}`,
    unit: isRatio ? `of ${campaign.spec.conditions[0]?.name ?? ''}` : metric.unit,
    factor: isRatio ? 1 : metric.factor,
    from: 0,
    to: found.values.length - 1,
    metric: metric.name,
    isRatio,
    source: found.isOfLinks
      ? { campaign: campaign.name, analysisVersion: report.analysis_version }
      : { campaign: campaign.name, link: links.find((one) => one.name === link), linkName: link, analysisVersion: report.analysis_version },
  })
}

function day({ day: found, campaign, link, links }: FigureRequest): Figure {
  if (!found) throw new Error('The server gave no runs of this campaign.')
  const named = [...new Set(found.runs.map((run) => run.link))]
  const only = link ?? (named.length === 1 ? (named[0] ?? null) : null)
  const source = { campaign: campaign.name, link: links.find(({ name }) => name === only), linkName: only ?? undefined }
  return dayFigure({ day: found, conditions: campaign.conditions, metric: metricOf(found.metric), link, source })
}

function exits({ exits: found, campaign, link, condition }: FigureRequest): Figure {
  const groups = (found?.groups ?? []).filter((group) => (!link || group.link === link) && (!condition || group.condition === condition))
  const group = groups.find((one) => decidableOf(one).length > 0)
  if (!found || !group) throw new Error('No detector could decide on a run of this link and condition: there are no exit times to draw.')
  const source = { campaign: campaign.name, linkName: group.link }
  return exitsFigure(decidableOf(group), groupLabel(group, found.groups), source)
}

/** What every run of a link gave, of its first flow; of the link itself where the quantity is the link's. */
function ecdf({ values, campaign, link, links }: FigureRequest): Figure {
  const metric = MEASURES.find(({ name }) => name === values?.metric)
  if (!values || !metric || values.sides.length === 0)
    throw new Error('The campaign has no results yet: they come with its first complete runs.')
  const linkName = pick([...new Set(values.sides.map((side) => side.link))], link, 'link')
  const flow = Math.min(...values.sides.filter((side) => side.link === linkName).map((side) => side.flow))
  const rows = spreadRows(sidesAt(values, linkName, flow), metric.factor)
  if (rows.every(({ dots }) => dots.length === 0)) throw new Error(`No run of the link ${linkName} has the quantity ${values.metric}.`)
  const source = { campaign: campaign.name, link: links.find(({ name }) => name === linkName), linkName }
  return distributionFigure({ phase: values.phase, metric }, rows, source)
}

function pick(names: readonly string[], wanted: string | null, noun: string): string {
  const found = wanted === null ? names[0] : names.find((name) => name === wanted)
  if (found === undefined) throw new Error(`There is no ${noun} ${wanted} in the results; there are: ${names.join(', ')}.`)
  return found
}

/** JSON in, JSON out: an interpreter without a browser may keep a text in pieces that its host cannot read. */
Object.assign(globalThis, { downlinkFigure: (request: string) => JSON.stringify(draw(JSON.parse(request) as FigureRequest)) })
