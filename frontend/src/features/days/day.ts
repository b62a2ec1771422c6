import type { CampaignDay, DayRun } from '@/api/types'
import { secondsOf } from '@/charts/clock'
import type { DayLine, DayNote, DayPoint, DayRow } from '@/charts/dayShapes'
import { EVENT_TIMES, LINKED, METRICS, type Quantity } from '@/lib/quantities'
import { UNDER_WAY } from '@/lib/states'

export type DayMetric = Quantity<string>

/** What a strip can show: that of which each run keeps its own value. */
export const DAY_METRICS: readonly DayMetric[] = [...METRICS, ...EVENT_TIMES.filter(({ name }) => name === 'time_to_steady_s'), ...LINKED]
const [THROUGHPUT] = METRICS

export const metricOf = (name: string | undefined): DayMetric => DAY_METRICS.find((one) => one.name === name) ?? (THROUGHPUT as DayMetric)

/** More lines than this have a plot each. */
const MOST_TOGETHER = 4
/** Runs further apart than this many times the usual distance are not joined. */
const FAR = 3
/** Left free at both ends, so that no sign is cut. */
const EDGE = 0.012
const LEAST_SPAN_S = 60

/** One link's part of a day. */
export interface Strip {
  link: string
  zone: string | null
  /** Seconds since 1970. */
  from: number
  to: number
  nights: { from: number; to: number }[]
  notes: DayNote[]
  lines: DayLine[]
  /** All lines together, or each by itself. */
  plots: DayLine[][]
  rows: DayRow[]
  /** In the order of time. */
  runs: DayRun[]
  /** With a value, by line. */
  counts: { label: string; style: number; n: number }[]
}

/** A campaign's links over one common time. */
export function stripsOf(day: CampaignDay, conditions: readonly string[]): Strip[] {
  if (day.from_at === null || day.to_at === null) return []
  const [first, last] = [secondsOf(day.from_at), secondsOf(day.to_at)]
  const edge = Math.max(LEAST_SPAN_S, last - first) * EDGE
  const span = { from: first - edge, to: Math.max(last, first + LEAST_SPAN_S) + edge }
  return day.links
    .map((link) => ({ link, runs: day.runs.filter((run) => run.link === link.link).sort((a, b) => secondsOf(a.at) - secondsOf(b.at)) }))
    .filter(({ runs }) => runs.length > 0)
    .map(({ link, runs }) => {
      const lines = linesOf(runs, conditions)
      return {
        link: link.link,
        zone: link.time_zone,
        ...span,
        nights: link.nights.map(({ from_at, to_at }) => ({ from: secondsOf(from_at), to: secondsOf(to_at) })),
        notes: notesOf(day, link.link, span),
        lines,
        plots: lines.length > MOST_TOGETHER ? lines.map((one) => [one]) : [lines],
        rows: rowsOf(runs, conditions, lines),
        runs,
        counts: lines.map(({ label, style, stretches }) => ({ label, style, n: stretches.flat().length })),
      }
    })
}

/** What was noted of the campaign or of this link, by its number among all that are noted. */
const notesOf = (day: CampaignDay, link: string, { from, to }: { from: number; to: number }): DayNote[] =>
  day.annotations
    .map((one, index) => ({
      link: one.link,
      number: index + 1,
      from: secondsOf(one.from_at),
      to: one.to_at === null ? null : secondsOf(one.to_at),
    }))
    .filter((note) => (note.link === null || note.link === link) && note.from <= to && (note.to ?? note.from) >= from)
    .map(({ number, from: begin, to: end }) => ({ number, from: begin, to: end }))

/** Of each condition, or of each of its flows where they compete, the complete runs that have a value. */
function linesOf(runs: readonly DayRun[], conditions: readonly string[]): DayLine[] {
  const complete = runs.filter(({ state }) => state === 'complete')
  const order = [...conditions, ...complete.map(({ condition }) => condition).filter((name) => !conditions.includes(name))]
  return [...new Set(order)]
    .flatMap((condition) => {
      const own = complete.filter((run) => run.condition === condition)
      const flows = [...new Set(own.flatMap(({ values }) => values.map(({ flow }) => flow)))].sort((a, b) => a - b)
      return flows.map((flow) => ({ condition, flow, own, isShared: flows.length > 1 }))
    })
    .map(({ condition, flow, own, isShared }, style) => {
      const cc = own.flatMap(({ values }) => values).find((value) => value.flow === flow)?.cc
      const label = isShared ? `${condition}: ${cc} (flow ${flow})` : condition
      return { id: `${condition} ${flow}`, label, style, stretches: stretchesOf(own, flow) }
    })
}

/** Where a cycle has no value, or much time lies between two runs, the line has a gap. */
function stretchesOf(runs: readonly DayRun[], flow: number): DayPoint[][] {
  const points = runs.flatMap((run) => {
    const found = run.values.find((value) => value.flow === flow)
    return found ? [{ id: run.id, x: secondsOf(run.at), value: found.value, cycle: run.cycle }] : []
  })
  const far = FAR * middle(points.slice(1).map(({ x }, index) => x - (points[index]?.x ?? x)))
  const stretches: DayPoint[][] = []
  for (const [index, { cycle, ...point }] of points.entries()) {
    const before = points[index - 1]
    const isJoined = before && cycle - before.cycle <= 1 && point.x - before.x <= far
    if (isJoined) stretches.at(-1)?.push(point)
    else stretches.push([point])
  }
  return stretches
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

const ROWS = [
  { id: 'failed', label: 'failed', glyph: 'cross', isOf: ({ state }: DayRun) => state === 'failed' },
  { id: 'missed', label: 'missed', glyph: 'triangle', isOf: ({ state }: DayRun) => state === 'missed' },
  { id: 'incomplete', label: 'incomplete', glyph: 'diamond', isOf: ({ state }: DayRun) => state === 'incomplete' },
  { id: 'cancelled', label: 'cancelled', glyph: 'square', isOf: ({ state }: DayRun) => state === 'cancelled' },
  {
    id: 'no-value',
    label: 'complete, without this value',
    glyph: 'hexagon',
    isOf: ({ state, values }: DayRun) => state === 'complete' && values.length === 0,
  },
  { id: 'under-way', label: 'under way', glyph: 'circle', isOf: ({ state }: DayRun) => UNDER_WAY.includes(state) },
  { id: 'planned', label: 'to come', glyph: 'bar', isOf: ({ state }: DayRun) => state === 'planned' },
] as const

/** Runs without a place in a plot, by what became of them, in the colour of their condition. */
function rowsOf(runs: readonly DayRun[], conditions: readonly string[], lines: readonly DayLine[]): DayRow[] {
  const styleOf = (condition: string) =>
    lines.find(({ id }) => id.startsWith(`${condition} `))?.style ?? Math.max(0, conditions.indexOf(condition))
  return ROWS.map(({ id, label, glyph, isOf }) => ({
    id,
    glyph,
    marks: runs.filter(isOf).map((run) => ({ id: run.id, x: secondsOf(run.at), style: styleOf(run.condition) })),
    label,
  }))
    .filter(({ marks }) => marks.length > 0)
    .map((row) => ({ ...row, label: `${row.label} (${row.marks.length})` }))
}

/** Runs that ended without a value, each with its reason. */
export const endedBadly = (runs: readonly DayRun[]) =>
  runs.filter(({ state }) => ['failed', 'missed', 'incomplete', 'cancelled'].includes(state))
