import type { CampaignDay } from '@/api/types'
import { clockTitle, momentText, secondsOf } from '@/charts/clock'
import { mostOf } from '@/charts/dayShapes'
import type { Figure, FigurePanel } from '@/charts/figure'
import { dayPanel, dayRowsPanel, withUnit } from '@/charts/panels'
import type { Cell } from '@/charts/table'
import { captionOf, countSentence, fileName, type Source, sourceSentence } from '@/lib/captions'
import { formatNumber, plural } from '@/lib/format'
import { phaseTitle } from '@/lib/quantities'
import { type DayMetric, type Strip, stripsOf } from './day'

interface DayFigure {
  day: CampaignDay
  conditions: readonly string[]
  metric: DayMetric
  /** Null for all. */
  link: string | null
  source: Source
}

/** What a strip draws, for the page and for figures: its plots, and below them its rows; the last one has the clock. */
export function stripBoxes(strip: Strip, factor: number) {
  const { from, to, nights, notes } = strip
  const shared = { from, to, nights, notes }
  const most = mostOf(strip.lines)
  const hasRows = strip.rows.length > 0
  const drawn = strip.lines.length > 0 ? strip.plots : []
  return {
    plots: drawn.map((lines, index) => ({
      ...shared,
      lines,
      factor,
      most,
      hasTimeAxis: index === drawn.length - 1 && !hasRows,
      areNotesNamed: index === 0 && notes.length > 0,
      title: drawn.length > 1 ? (lines[0]?.label ?? '') : '',
    })),
    rows: hasRows ? { ...shared, rows: strip.rows } : null,
  }
}

/** The whole strip, link under link. Throws a sentence where there is nothing to draw. */
export function dayFigure({ day, conditions, metric, link, source }: DayFigure): Figure {
  const all = stripsOf(day, conditions)
  const strips = link === null ? all : all.filter((one) => one.link === link)
  const [first] = strips
  if (!first) throw new Error(nothingSentence(link, all))
  return {
    file: fileName(source.campaign, link ?? undefined, 'day', metric.name),
    title: `${metric.title} over clock time`,
    columns: [{ panels: strips.flatMap((strip) => panelsOf(strip, metric, strips.length > 1)) }],
    legend: first.plots.length > 1 ? [] : first.lines.map(({ label, style }) => ({ label, style, isDotted: true })),
    xTitle: clockTitle(secondsOf(day.from_at ?? ''), secondsOf(day.to_at ?? '')),
    caption: captionOf(
      `${metric.title} of each run, ${phaseOf(metric, day.phase)}. Lines are broken where a run is missing.`,
      nightSentence(strips),
      ...noted(day, strips),
      day.total > day.runs.length ? `Drawn are the first ${formatNumber(day.runs.length, 0)} of ${plural(day.total, 'run')}.` : undefined,
      ...strips.map((strip) => `${strips.length > 1 ? `${strip.link}: ` : ''}${countSentence(strip.counts)}`),
      sourceSentence(source),
    ),
    table: dayTable(day, strips, metric),
  }
}

const nothingSentence = (link: string | null, all: readonly Strip[]) =>
  link === null || all.length === 0
    ? 'The campaign has no runs yet: launch it, and they are planned from that moment on.'
    : `There is no link ${link} in the campaign; there are: ${all.map((one) => one.link).join(', ')}.`

const phaseOf = (metric: DayMetric, phase: string) =>
  metric.name === 'time_to_steady_s' ? 'from its first data byte' : `phase “${phaseTitle(phase)}”`

function nightSentence(strips: readonly Strip[]): string | undefined {
  const zones = [...new Set(strips.filter(({ nights }) => nights.length > 0).map(({ zone }) => zone))]
  return zones.length > 0 ? `Shaded: night, 22:00 to 06:00 in ${zones.join(' and ')}.` : undefined
}

/** "1: rain, 23 Nov, 14:00 to 23 Nov, 15:30." Those that stand in these strips. */
function noted(day: CampaignDay, strips: readonly Strip[]): string[] {
  const shown = new Set(strips.flatMap(({ notes }) => notes.map(({ number }) => number)))
  return day.annotations.flatMap(({ text, from_at, to_at }, index) => {
    const end = to_at ? ` to ${momentText(secondsOf(to_at))}` : ''
    return shown.has(index + 1) ? [`${index + 1}: ${text.replace(/[.\s]+$/, '')} (${momentText(secondsOf(from_at))}${end}).`] : []
  })
}

function panelsOf(strip: Strip, metric: DayMetric, isOneOfSeveral: boolean): FigurePanel[] {
  const { plots, rows } = stripBoxes(strip, metric.factor)
  const over = isOneOfSeveral ? `${strip.link}: ` : ''
  const drawn = plots.map(({ title, ...box }, index) => {
    const head = index === 0 ? `${over}${metric.title}` : title
    const name = title && index === 0 ? `${over}${metric.title}, ${title}` : head
    return dayPanel({ title: name, unit: index === 0 ? metric.unit : '' }, box, plots.length === 1)
  })
  return rows ? [...drawn, dayRowsPanel(plots.length === 0 ? `${over}Runs` : '', rows)] : drawn
}

/** Every run, drawn as a point or as a sign. */
function dayTable(day: CampaignDay, strips: readonly Strip[], metric: DayMetric) {
  const heads = ['Link', 'Condition', 'Flow', 'Cycle', 'Attempt', 'Time (UTC)', 'State', 'Reason', 'Detail']
  const value = withUnit(metric.name === 'time_to_steady_s' ? metric.title : `${metric.title}, ${phaseTitle(day.phase)}`, metric.unit)
  const rows = strips.flatMap(({ runs }) =>
    runs.flatMap((run) => {
      const own = (flow: number | null, found: number | null): Cell[] => [
        run.link,
        run.condition,
        flow,
        run.cycle,
        run.attempt,
        run.at,
        run.state,
        run.reason,
        run.detail,
        found === null ? null : found * metric.factor,
        run.id,
      ]
      return run.values.length > 0 ? run.values.map(({ flow, value: found }) => own(flow, found)) : [own(null, null)]
    }),
  )
  return { heads: [...heads, value, 'Run'], rows }
}
