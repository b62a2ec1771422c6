import type { Comparison, EventTimes, Fairness, Group, Interval, MetricName, PhaseName, Report, SeriesBand, SeriesName } from '@/api/types'
import { type Course, estimate, makeCourse } from './model.ts'
import { weigh } from './statistics.ts'

/** A flow of a condition over its runs, as the model draws it. */
export interface FlowPlan {
  condition: string
  flow: number
  cc: string
  half_s: number
  steepness: number
  top_bps: number
}

export interface ReportPlan {
  campaign_id: string
  link: string
  seconds: number
  cycles: number
  startup_s: number
  steady_s: number
  flows: FlowPlan[]
  /** Bins in which nobody took a sample. */
  gap?: [from: number, to: number]
}

const NOMINAL_BPS = 144e6
const LEVEL_BPS = (NOMINAL_BPS * 1448) / 1500
/** What is tested where a campaign does not say. */
const PRIMARY = ['startup.throughput_bps', 'steady.throughput_bps']
const SERIES: SeriesName[] = [
  'throughput_bps',
  'goodput_bps',
  'rtt_ms',
  'rwnd_bytes',
  'cwnd_bytes',
  'retransmission_percent',
  'in_flight_bytes',
]
const PHASES: PhaseName[] = ['startup', 'steady', 'overall']

function phaseRange(plan: ReportPlan, phase: PhaseName): [number, number] {
  if (phase === 'startup') return [0, Math.min(plan.startup_s, plan.seconds)]
  return phase === 'steady' ? [Math.max(0, plan.seconds - plan.steady_s), plan.seconds] : [0, plan.seconds]
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

function phaseMean(plan: ReportPlan, course: Course, phase: PhaseName, metric: MetricName): number {
  const [from, to] = phaseRange(plan, phase)
  if (metric === 'utilisation_ratio') return average(course.throughput_bps.slice(from, to)) / NOMINAL_BPS
  return average(course[metric].slice(from, to))
}

function band(plan: ReportPlan, courses: readonly Course[], name: SeriesName): SeriesBand {
  const [gapFrom, gapTo] = plan.gap ?? [-1, -1]
  const bins = Array.from({ length: plan.seconds }, (_, k) =>
    k >= gapFrom && k < gapTo ? estimate([]) : positive(courses.map((course) => course[name][k] ?? 0)),
  )
  const inGap = (k: number) => k >= gapFrom && k < gapTo
  const runs =
    courses.length > 3 ? [] : courses.map((course) => course[name].slice(0, plan.seconds).map((value, k) => (inGap(k) ? null : value)))
  return { mean: bins.map((b) => b.mean), low: bins.map((b) => b.low), high: bins.map((b) => b.high), n: bins.map((b) => b.n), runs }
}

/** An interval that stays above zero, as the server's do. */
function positive(values: readonly number[]): Interval {
  const { mean, high, ...rest } = estimate(values)
  if (!mean || high === null) return { ...rest, mean, high }
  const factor = Math.exp((high - mean) / mean)
  return { ...rest, mean, low: mean / factor, high: mean * factor }
}

function eventTimes(times: readonly number[], within_s: number): EventTimes {
  const sorted = [...times].sort((a, b) => a - b)
  const not_within = times.filter((time) => time > within_s).length
  const median = sorted[Math.ceil(times.length / 2) - 1] ?? null
  return {
    median: median !== null && median <= within_s ? median : null,
    low: sorted[0] ?? null,
    high: null,
    n: times.length,
    not_within,
    within_s,
  }
}

function objectTimes(courses: readonly Course[]): Group['object_times'] {
  const finish = courses.map((course) => {
    let sum = 0
    const cumulative = course.goodput_bps.map((rate) => (sum += rate / 8e6))
    return (mb: number) => {
      const k = cumulative.findIndex((total) => total >= mb)
      const before = cumulative[k - 1] ?? 0
      return k + (mb - before) / ((cumulative[k] ?? 1) - before)
    }
  })
  const reached = Math.floor(Math.min(...courses.map((course) => course.goodput_bps.reduce((sum, rate) => sum + rate / 8e6, 0))))
  const object_mb = Array.from({ length: Math.min(reached, 120) }, (_, index) => index + 1)
  const times = object_mb.map((mb) => positive(finish.map((at) => at(mb))))
  return {
    object_mb,
    mean_s: times.map((t) => t.mean),
    low_s: times.map((t) => t.low),
    high_s: times.map((t) => t.high),
    n: times.map((t) => t.n),
  }
}

function coursesOf(plan: ReportPlan, flow: FlowPlan): Course[] {
  return Array.from({ length: plan.cycles }, (_, cycle) =>
    makeCourse({ ...flow, seconds: plan.seconds, base_rtt_ms: 597, seed: 1000 * cycle + 10 * flow.flow + flow.condition.length }),
  )
}

function makeGroup(plan: ReportPlan, flow: FlowPlan): Group {
  const courses = coursesOf(plan, flow)
  const series = Object.fromEntries(SERIES.map((name) => [name, band(plan, courses, name)])) as Omit<Group['series'], 'bin_s'>
  const metrics = Object.fromEntries(
    PHASES.map((phase) => [
      phase,
      Object.fromEntries(
        [...SERIES, 'utilisation_ratio' as const].map((metric) => [
          metric,
          positive(courses.map((c) => phaseMean(plan, c, phase, metric))),
        ]),
      ),
    ]),
  ) as unknown as Group['metrics']
  return {
    link: plan.link,
    condition: flow.condition,
    flow: flow.flow,
    cc: flow.cc,
    runs: plan.cycles,
    run_ids: courses.map((_, cycle) => `01890a5d-ac96-774b-8000-${String(cycle).padStart(12, '0')}`),
    series: { bin_s: Array.from({ length: plan.seconds }, (_, k) => k), ...series },
    metrics,
    too_short: 0,
    time_to_steady_s: eventTimes(
      courses.map((course) => steadyAfter(course, average(course.throughput_bps.slice(-5)))),
      plan.seconds - 3,
    ),
    time_to_level_s: eventTimes(
      courses.map((course) => steadyAfter(course, LEVEL_BPS)),
      plan.seconds - 3,
    ),
    level_bps: LEVEL_BPS,
    level_basis: 'nominal',
    object_times: objectTimes(courses),
  }
}

function steadyAfter(course: Course, level_bps: number): number {
  const first = course.throughput_bps.findIndex((rate) => rate > 0.9 * level_bps)
  return first < 0 ? Number.POSITIVE_INFINITY : first
}

function compare(plan: ReportPlan, flow: FlowPlan, baseline: FlowPlan): Comparison[] {
  const metrics: MetricName[] = ['throughput_bps', 'rtt_ms', 'retransmission_percent']
  const [own, base] = [coursesOf(plan, flow), coursesOf(plan, baseline)]
  return PHASES.flatMap((phase) =>
    metrics.map((metric) => {
      const [ownValues, baseValues] = [own, base].map((courses) => courses.map((course) => phaseMean(plan, course, phase, metric)))
      const differences = (ownValues ?? []).map((value, i) => value - (baseValues?.[i] ?? 0))
      const difference: Interval = estimate(differences)
      const half = difference.sd === null ? null : (1.5 * difference.sd) / Math.sqrt(difference.n)
      const [low, high] = half === null || difference.mean === null ? [null, null] : [difference.mean - half, difference.mean + half]
      return {
        link: plan.link,
        flow: flow.flow,
        phase,
        metric,
        condition: flow.condition,
        baseline: baseline.condition,
        difference,
        bootstrap_low: low,
        bootstrap_high: high,
        ratio: average(ownValues ?? []) / average(baseValues ?? []),
        ...weigh(difference, differences, PRIMARY.includes(`${phase}.${metric}`)),
      }
    }),
  )
}

function fairness(plan: ReportPlan, condition: string, flows: FlowPlan[]): Fairness[] {
  const courses = flows.map((flow) => coursesOf(plan, flow))
  const jain = (rates: number[]) => rates.reduce((a, b) => a + b, 0) ** 2 / (rates.length * rates.reduce((a, b) => a + b * b, 0))
  return PHASES.map((phase) => {
    const rates = Array.from({ length: plan.cycles }, (_, cycle) =>
      courses.map((runs) => (runs[cycle] ? phaseMean(plan, runs[cycle], phase, 'throughput_bps') : 0)),
    )
    const means = flows.map((_, i) => average(rates.map((run) => run[i] ?? 0)))
    return {
      link: plan.link,
      condition,
      flows: flows.length,
      phase,
      jain: estimate(rates.map(jain)),
      jain_of_means: jain(means),
      difference_bps: estimate(rates.map(([first = 0, second = 0]) => first - second)),
    }
  })
}

/** A whole report: single flows are compared with the first condition, competing ones get fairness. */
export function makeReport(plan: ReportPlan): Report {
  const conditions = [...new Set(plan.flows.map(({ condition }) => condition))]
  const flowsOf = (condition: string) => plan.flows.filter((flow) => flow.condition === condition)
  const [baseline] = plan.flows
  return {
    campaign_id: plan.campaign_id,
    analysis_version: '2',
    computed_at: '2026-01-02T03:09:12.000Z',
    is_current: true,
    is_outdated: false,
    primary_metrics: PRIMARY,
    outliers: [],
    phases: { startup_s: plan.startup_s, steady_s: plan.steady_s },
    groups: plan.flows.map((flow) => makeGroup(plan, flow)),
    fairness: conditions
      .filter((condition) => flowsOf(condition).length > 1)
      .flatMap((condition) => fairness(plan, condition, flowsOf(condition))),
    comparisons: plan.flows
      .filter((flow) => baseline && flow.condition !== baseline.condition && flow.flow === 1)
      .flatMap((flow) => (baseline ? compare(plan, flow, baseline) : [])),
  }
}
