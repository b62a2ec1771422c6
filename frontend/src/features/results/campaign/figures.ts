import type { Fairness } from '@/api/types'
import type { PublishedPoint } from '@/charts/axis'
import { type BandSeries, hasRuns } from '@/charts/bands'
import type { Figure, FigureColumn } from '@/charts/figure'
import { bandPanel, bandTable, curvePanel, heatPanel, heatTable } from '@/charts/panels'
import { captionOf, countSentence, fileName, type Source, sourceSentence } from '@/lib/captions'
import { formatNumber, plural } from '@/lib/format'
import { MBPS_PER_BPS } from '@/lib/units'
import { cdfCurves, type PublishedShare } from './cdf'
import { DELAY_WORDS, type DelayKind, type DelayRow, leftOut } from './delays'
import { RATE_TITLES, type RateName, type RateRow } from './rates'
import { bandSeries, type LabelledGroup, objectSeries, type StackedQuantity } from './series'
import { shareGrids } from './shares'
import { areFew, chartFacts, isBare, noteOf, type Shown } from './stack'

const legendOf = (groups: readonly { label: string; style: number }[]) => groups.map(({ label, style }) => ({ label, style }))
const counts = (groups: readonly LabelledGroup[]) => countSentence(groups.map(({ label, group }) => ({ label, n: group.runs })))

/** What is drawn of several runs. */
export function spreadSentence(groups: readonly LabelledGroup[], hasBands: boolean, of: string): string {
  if (!hasBands) return `${of}: mean over runs.`
  if (areFew(groups)) return `${of}: mean over runs (thick) and the single runs (thin).`
  return groups.some(({ group }) => group.series.throughput_bps.runs.length > 0)
    ? `${of}: mean over runs with its 95 % confidence interval (Student's t, shaded), or with the single runs (thin) where they are few.`
    : `${of}: mean over runs with its 95 % confidence interval (Student's t, shaded).`
}

interface StackFigure {
  groups: readonly LabelledGroup[]
  /** One, or all of the stack. */
  quantities: readonly StackedQuantity[]
  shown: Shown
  /** Each series in a column of its own. */
  isSplit?: boolean
  source: Source
}

/** The stack, or one chart of it. */
export function stackFigure({ groups, quantities, shown, isSplit = false, source }: StackFigure): Figure {
  const titles = quantities.length === 1 ? (quantities[0]?.title ?? '') : 'Throughput, RTT and windows over time'
  const own = quantities.map(({ title }) => title).join(', ')
  const columns = isSplit
    ? groups.map((one) => ({ ...column(quantities, [one], shown, groups), title: one.label }))
    : [column(quantities, groups, shown)]
  const level = shown.link ? 'Dashed: what the link allows.' : undefined
  return {
    file: fileName(
      source.campaign,
      source.link?.name ?? source.linkName,
      quantities.length === 1 ? quantities[0]?.name.replace(/_[a-z]+$/, '') : 'stack',
    ),
    title: titles,
    columns,
    legend: isSplit ? [] : legendOf(groups),
    xTitle: "Seconds since the flow's first data byte",
    caption: captionOf(spreadSentence(groups, shown.hasBands, `${own} per second`), level, counts(groups), sourceSentence(source)),
    table: bandTable(
      'Time (s)',
      quantities.map((quantity) => ({
        ...quantity,
        series: bandSeries(groups, quantity.name),
        hasBands: shown.hasBands && !isBare(quantity, groups),
      })),
      shown.from,
      shown.to,
    ),
  }
}

function column(
  quantities: readonly StackedQuantity[],
  groups: readonly LabelledGroup[],
  shown: Shown,
  all?: readonly LabelledGroup[],
): FigureColumn {
  const last = quantities.length - 1
  return {
    panels: quantities.map((quantity, index) => {
      const beside: readonly BandSeries[] | undefined = all ? bandSeries(all, quantity.name) : undefined
      const facts = chartFacts(quantity, groups, shown, beside)
      const box = { ...facts, windows: shown.windows, areWindowsNamed: index === 0 && !all, hasTimeAxis: index === last }
      return bandPanel({ ...quantity, note: all ? undefined : noteOf(quantity, facts)?.replace('┄', 'dashed:') }, box, index === 0 && !all)
    }),
  }
}

const OBJECT_TITLES = {
  sender: "from the flow's first data byte until the sender knew that the first N MB had arrived",
  requested: 'from the connection request until the sender knew that the first N MB had arrived',
  receiver: 'from the connection request until the receiver had the first N MB',
} as const

/** How long an object of each size takes. */
export function objectsFigure(
  groups: readonly LabelledGroup[],
  basis: keyof typeof OBJECT_TITLES,
  hasBands: boolean,
  source: Source,
): Figure {
  const series = objectSeries(groups, basis)
  const to = Math.max(1, ...series.flatMap(({ x }) => x))
  const head = { title: 'Object download time', unit: 's' }
  return {
    file: fileName(source.campaign, source.link?.name ?? source.linkName, 'object-times'),
    title: 'Object download time',
    columns: [{ panels: [bandPanel(head, { series, from: 0, to, hasBands, factor: 1, hasTimeAxis: true }, true)] }],
    legend: legendOf(series),
    xTitle: 'Object size (MB)',
    caption: captionOf(
      `Object download time, ${OBJECT_TITLES[basis]}: mean over runs${hasBands ? " with its 95 % confidence interval (Student's t, shaded)" : ''}, for every size that all runs of a condition reached.`,
      counts(groups.filter(({ label }) => series.some((one) => one.label === label))),
      sourceSentence(source),
    ),
    table: bandTable('Object size (MB)', [{ ...head, factor: 1, series, hasBands }], 0, to),
  }
}

const DELAY_FILES: Record<DelayKind, string> = { one_way_delay: 'arrival', in_order_delay: 'in-order', jitter: 'jitter' }

interface Distribution<Row> {
  rows: readonly Row[]
  shares: readonly number[]
  published: readonly PublishedShare[]
  source: Source
}

/** A line for each share of a condition, and for each of its published points. */
const cdfTable = (rows: readonly { label: string; quantiles: readonly number[] }[], { shares, published }: Distribution<unknown>) => [
  ...rows.flatMap(({ label, quantiles }) => quantiles.map((value, index) => [label, 100 * (shares[index] ?? 0), value])),
  ...published.flatMap(({ label, points }) => points.map(({ x, y }) => [`${label}, published`, y, x])),
]

const publishedSentence = ({ published }: Distribution<unknown>) =>
  published.length > 0 ? `Rings: published values. ${published.map(({ sentence }) => sentence).join('; ')}.` : undefined

/** Cumulative shares of the blocks, or of the pairs of seconds, of each condition. */
export function delaysFigure(asked: Distribution<DelayRow> & { kind: DelayKind }): Figure {
  const { rows, shares, published, kind, source } = asked
  const { title, counted, axis } = DELAY_WORDS[kind]
  const curves = cdfCurves(rows, shares, published)
  const drawn = rows.filter(({ delay }) => delay.quantiles_ms.length > 0)
  const error = Math.max(0, ...drawn.map(({ delay }) => delay.clock_error_ms ?? 0))
  const box = { ...curves, factor: 1, reach: [0, 100] as const, hasTimeAxis: true, isStepped: true }
  return {
    file: fileName(source.campaign, source.link?.name ?? source.linkName, 'delays', DELAY_FILES[kind]),
    title,
    columns: [{ panels: [curvePanel({ title: 'Cumulative distribution', unit: `% of the ${counted}` }, box, true)] }],
    legend: legendOf(drawn),
    xTitle: `${axis} (ms)`,
    caption: captionOf(
      `${axis}: over all ${counted} of the runs, ${drawn.map(({ label, delay }) => `${delay.n.toLocaleString('en')} (${label})`).join(', ')}. The axis ends where each has 99 % of them.`,
      publishedSentence(asked),
      error > 0 && kind !== 'jitter' ? `The clocks of both ends differ by at most ${formatNumber(error)} ms.` : undefined,
      countSentence(drawn.map(({ label, delay }) => ({ label, n: delay.runs }))),
      ...leftOut(rows).map(({ sentence, runs }) => `${plural(runs, 'run')} left out. ${sentence}`),
      sourceSentence(source),
    ),
    table: {
      heads: ['Condition', `Share of ${counted} (%)`, kind === 'jitter' ? 'Jitter (ms)' : 'One-way delay (ms)'],
      rows: cdfTable(drawn, asked),
    },
  }
}

/** Cumulative shares of the seconds of each condition. rows: with seconds. */
export function ratesFigure(asked: Distribution<RateRow> & { metric: RateName }): Figure {
  const { rows, shares, published, metric, source } = asked
  const box = { ...cdfCurves(rows, shares, published), factor: 1, reach: [0, 100] as const, hasTimeAxis: true, isStepped: true }
  const rate = RATE_TITLES[metric]
  return {
    file: fileName(source.campaign, source.link?.name ?? source.linkName, 'seconds', rate.toLowerCase()),
    title: `${rate} of single seconds`,
    columns: [{ panels: [curvePanel({ title: 'Cumulative distribution', unit: '% of the seconds' }, box, true)] }],
    legend: legendOf(rows),
    xTitle: `${rate} of single seconds (Mb/s)`,
    caption: captionOf(
      `${rate} of single seconds: over all whole seconds of the runs, ${rows.map(({ label, rate: { n } }) => `${n.toLocaleString('en')} (${label})`).join(', ')}. Seconds without data are 0. The axis ends where each has 99 % of its seconds.`,
      publishedSentence(asked),
      countSentence(rows.map(({ label, rate: { runs } }) => ({ label, n: runs }))),
      sourceSentence(source),
    ),
    table: {
      heads: ['Condition', 'Share of seconds (%)', `${rate} (Mb/s)`],
      rows: cdfTable(rows, asked),
    },
  }
}

export function sharesFigure(fairness: readonly Fairness[], source: Source): Figure {
  const { jain, difference } = shareGrids(fairness)
  const each = [...new Map(fairness.map((one) => [one.condition, one.jain.n]))].map(([label, n]) => ({ label, n }))
  return {
    file: fileName(source.campaign, source.link?.name ?? source.linkName, 'shares'),
    title: 'Shares of the link',
    columns: [{ panels: [heatPanel(jain)] }, { panels: [heatPanel(difference)] }],
    legend: [],
    caption: captionOf(
      "How competing flows shared the link. Left: Jain's index of the mean throughputs. Right: mean throughput of flow 1 minus that of flow 2; blue where flow 1 got more, red where flow 2 did.",
      countSentence(each),
      sourceSentence(source),
    ),
    table: heatTable([
      { grid: jain, factor: 1 },
      { grid: difference, factor: MBPS_PER_BPS },
    ]),
  }
}

interface VariedFigure {
  series: readonly BandSeries[]
  published: readonly PublishedPoint[]
  xNames: readonly string[]
  xTitle: string
  title: string
  unit: string
  factor: number
  from: number
  to: number
  metric: string
  isRatio: boolean
  source: Source
}

/** A metric over what the campaign varied, with the published values as rings. */
export function variedFigure({ series, title, unit, xTitle, metric, isRatio, source, ...box }: VariedFigure): Figure {
  const { xNames, published, factor, from, to } = box
  const what = isRatio ? `${title}: multiples ${unit}, geometric mean over cycles` : `${title}: mean over runs`
  const spread = series.some(hasRuns)
    ? `${what} (thick) and the single ${isRatio ? 'cycles' : 'runs'} (thin).`
    : `${what} with its 95 % confidence interval (shaded).`
  const table = bandTable(xTitle, [{ title, unit, factor, series, hasBands: true }], from, to)
  return {
    file: fileName(source.campaign, 'over', xTitle, metric.replace(/_[a-z]+$/, ''), isRatio ? 'ratio' : undefined),
    title: `${title} over ${xTitle}`,
    columns: [{ panels: [bandPanel({ title, unit }, { ...box, series, hasBands: true, hasTimeAxis: true }, true)] }],
    legend: legendOf(series),
    xTitle,
    caption: captionOf(
      spread,
      published.length > 0 ? 'Rings: published values.' : undefined,
      countSentence(series.map(({ label, band }) => ({ label, n: Math.max(0, ...band.n) }))),
      sourceSentence(source),
    ),
    table: { ...table, rows: table.rows.map(([label, x, ...values]) => [label ?? null, xNames[Number(x)] ?? x ?? null, ...values]) },
  }
}
