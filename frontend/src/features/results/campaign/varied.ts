import type { CampaignReproduction, CampaignSpec, CampaignValues, Comparison, Group, Interval, Report } from '@/api/types'
import type { PublishedPoint } from '@/charts/axis'
import type { BandSeries } from '@/charts/bands'
import { writtenOut } from '@/lib/format'
import { METRICS, type Quantity } from '@/lib/quantities'

/** What a campaign varied, in rising order: the x of its figure. */
export interface Varied {
  key: string
  values: number[]
  /** Whether links differ in it; else conditions do. */
  isOfLinks: boolean
}

/** What the campaign's file varied; null where that is nothing, or no numbers. */
export function variedOf({ vary, conditions }: Pick<CampaignSpec, 'vary' | 'conditions'>): Varied | null {
  const [ofLinks] = Object.entries(vary ?? {})
  const ofConditions = conditions.flatMap(({ varied }) => (varied ? [varied] : []))
  const key = ofLinks?.[0] ?? ofConditions[0]?.key
  const all = ofLinks ? Object.values(ofLinks[1]) : ofConditions.map(({ value }) => value)
  const values = [...new Set(all)].filter((value): value is number => typeof value === 'number').sort((a, b) => a - b)
  if (key === undefined || values.length < 2 || values.length < new Set(all).size) return null
  return { key, values, isOfLinks: ofLinks !== undefined }
}

/** Places have names: values of losses or buffers lie orders of magnitude apart. */
export const placeNames = ({ values }: Varied) =>
  values.map((value) => {
    if (Number.isInteger(value)) return writtenOut(value, 0)
    return Math.abs(value) < 1e-3 ? value.toExponential() : String(value)
  })

/** -1 for what was not varied. */
const placeOf = ({ values }: Varied, value: unknown) => values.indexOf(value as number)

interface Placed {
  label: string
  x: number
  group: Group
}

/** Each group of the report with the series that it is in, and its place on the axis. link: of conditions that were varied, whose. */
function placed({ vary, conditions }: CampaignSpec, varied: Varied, groups: readonly Group[], link: string): Placed[] {
  const isCompeting = (one: Group) =>
    groups.some((other) => other.link === one.link && other.condition === one.condition && other.flow !== one.flow)
  return groups.flatMap((group) => {
    const condition = conditions.find(({ name }) => name === group.condition)
    const value = varied.isOfLinks ? vary?.[varied.key]?.[group.link] : group.link === link ? condition?.varied?.value : undefined
    const x = placeOf(varied, value)
    const name = (varied.isOfLinks ? null : condition?.varied?.of) ?? group.condition
    return x < 0 ? [] : [{ label: isCompeting(group) ? `${name}: ${group.cc} (flow ${group.flow})` : name, x, group }]
  })
}

const intervalOf = (group: Group, phase: string, metric: string): Interval | undefined =>
  (group.metrics[phase] as Record<string, Interval> | undefined)?.[metric]

/** The metrics of which a group has a value in this phase. */
export const offeredMetrics = (groups: readonly Group[], phase: string): readonly Quantity<string>[] =>
  METRICS.filter(({ name }) => groups.some((group) => intervalOf(group, phase, name)?.mean != null))

export interface VariedPlot {
  series: BandSeries[]
  published: PublishedPoint[]
}

interface Asked {
  spec: CampaignSpec
  varied: Varied
  report: Report
  reproduction: CampaignReproduction | undefined
  /** Every run's value of this phase and metric: where runs are few, they are drawn one by one. */
  values: CampaignValues | undefined
  link: string
  phase: string
  metric: Quantity<string>
}

/** A line for each condition: means with intervals, or with the single runs of few, and what was published where the file says it. */
export function variedValues(asked: Asked): VariedPlot {
  const { spec, varied, report, link, phase, metric } = asked
  const all = placed(spec, varied, report.groups, link)
  const labels = [...new Set(all.map(({ label }) => label))]
  const series = labels.map((label, style) => {
    const own = all.filter((one) => one.label === label).sort((a, b) => a.x - b.x)
    return seriesOf(
      label,
      style,
      own.map(({ x, group }) => ({ x, interval: intervalOf(group, phase, metric.name), runs: byCycle(asked, group) })),
    )
  })
  const said = publishedValues(asked, (value) => value.over === null && value.minus === null && value.than_link === null)
  const published = said.flatMap((value): PublishedPoint[] => {
    const at = all.find(({ group }) => group.link === value.link && group.condition === value.condition && group.flow === value.flow)
    return at ? [{ id: value.name, x: at.x, value: value.published / metric.factor, style: labels.indexOf(at.label) }] : []
  })
  return { series: series.filter(hasValue), published }
}

/** The same as multiples of the campaign's first condition, cycle by cycle; of links alone, where it runs beside all others. */
export function variedRatios(asked: Asked): VariedPlot {
  const { spec, varied, report, phase, metric } = asked
  const base = spec.conditions[0]?.name ?? ''
  const xOf = (link: string) => placeOf(varied, spec.vary?.[varied.key]?.[link])
  const own = report.comparisons.filter(
    (one) => one.phase === phase && one.metric === metric.name && one.baseline === base && one.flow === 1 && xOf(one.link) >= 0,
  )
  const names = spec.conditions.map(({ name }) => name)
  const series = names.slice(1).map((name, index) => {
    const at = own
      .filter(({ condition }) => condition === name)
      .map((one) => ({ x: xOf(one.link), interval: one.paired_ratio, runs: ratioByCycle(asked, one) }))
    return seriesOf(
      name,
      index + 1,
      at.sort((a, b) => a.x - b.x),
    )
  })
  const said = publishedValues(asked, ({ over, than_link, flow }) => over?.condition === base && than_link === null && flow === 1)
  const published = said.flatMap((value): PublishedPoint[] =>
    xOf(value.link) < 0 ? [] : [{ id: value.name, x: xOf(value.link), value: value.published, style: names.indexOf(value.condition) }],
  )
  return { series: series.filter(hasValue), published }
}

/** Whether there is a ratio to draw. */
export const hasRatios = ({ comparisons }: { comparisons: readonly Comparison[] }, varied: Varied) =>
  varied.isOfLinks && comparisons.length > 0

type ByCycle = ReadonlyMap<number, number | null>

interface Point {
  x: number
  interval: Interval | undefined
  /** Empty where runs are many. */
  runs: ByCycle
}

const MANY: ByCycle = new Map()

/** What each cycle gave, where the report has so few runs that it keeps the single ones. */
function byCycle({ report, values }: Asked, { link, condition, flow }: Pick<Group, 'link' | 'condition' | 'flow'>): ByCycle {
  const isFew = report.groups.every(({ series }) => series.throughput_bps.runs.length > 0)
  const side = values?.sides.find((one) => one.link === link && one.condition === condition && one.flow === flow)
  return isFew && side ? new Map(side.cycles.map((cycle, index) => [cycle, side.values[index] ?? null])) : MANY
}

function ratioByCycle(asked: Asked, { link, condition, baseline, flow }: Comparison): ByCycle {
  const base = byCycle(asked, { link, condition: baseline, flow })
  const over = (cycle: number, value: number | null) => {
    const below = base.get(cycle)
    return value === null || !below ? null : value / below
  }
  return new Map([...byCycle(asked, { link, condition, flow })].map(([cycle, value]) => [cycle, over(cycle, value)]))
}

function seriesOf(label: string, style: number, points: readonly Point[]): BandSeries {
  const column = (key: 'mean' | 'low' | 'high') => points.map(({ interval }) => interval?.[key] ?? null)
  const cycles = [...new Set(points.flatMap(({ runs }) => [...runs.keys()]))]
  const runs = cycles.map((cycle) => points.map((point) => point.runs.get(cycle) ?? null))
  const band = { mean: column('mean'), low: column('low'), high: column('high'), n: points.map(({ interval }) => interval?.n ?? 0), runs }
  return { id: label, label, style, x: points.map(({ x }) => x), isUneven: true, band }
}

const hasValue = ({ band }: BandSeries) => band.mean.some((mean) => mean !== null)

/** Published numbers of this metric and phase, in the shown unit; what was published as a bound or of a distribution is no point. */
function publishedValues({ reproduction, metric, phase }: Asked, isWanted: (value: Value) => boolean) {
  const values = (reproduction?.figures ?? []).flatMap((figure) => figure.values)
  return values.flatMap((value) =>
    value.metric === metric.name &&
    value.phase === phase &&
    value.share == null &&
    value.least !== null &&
    value.least === value.most &&
    isWanted(value)
      ? [{ ...value, published: value.least }]
      : [],
  )
}

type Value = CampaignReproduction['figures'][number]['values'][number]
