import type { LinkCourse, Run } from '@/api/types'
import type { Curve } from '@/charts/curves'
import type { Figure } from '@/charts/figure'
import { curvePanel, curveTable, eventPanel } from '@/charts/panels'
import { captionOf, fileName } from '@/lib/captions'
import { runSentence } from '@/lib/runs'
import { eventRows, type WayName } from './course'

export interface LinkPlot {
  title: string
  unit: string
  factor: number
  curves: Curve[]
}

const WAYS = { down: 'to the receiver', up: 'back from the receiver' } as const

/** One chart of a link's log, or all of them with what was lost. */
export function linkFigure(run: Run, course: LinkCourse, name: WayName, plots: readonly LinkPlot[], hasEvents: boolean): Figure {
  const [from, to, x] = [0, course.end_s, course.time_s]
  const rows = hasEvents ? eventRows(course.ways[name]) : []
  const shared = { x, from, to, isStepped: true }
  const panels = plots.map((plot, index) =>
    curvePanel(plot, { ...shared, ...plot, hasTimeAxis: rows.length === 0 && index === plots.length - 1 }, plots.length === 1),
  )
  const curves = plots.flatMap((plot) => (plot.curves.length > 1 ? plot.curves : []))
  return {
    file: fileName(
      'run',
      run.condition,
      `cycle ${run.cycle}`,
      'link',
      name,
      plots.length === 1 && !hasEvents ? plots[0]?.title : undefined,
    ),
    title: 'What the emulated link did',
    columns: [
      {
        panels:
          rows.length > 0 ? [...panels, eventPanel({ title: 'Losses, outages and gaps', unit: '' }, { ...shared, rows, end: to })] : panels,
      },
    ],
    legend: curves.map(({ label, style }) => ({ label, style })),
    xTitle: "Seconds since the run's zero",
    caption: captionOf(`The emulated link on the way ${WAYS[name]}, from its own log (n = 1).`, runSentence(run)),
    table: curveTable('Time (s)', [...plots.map((plot) => ({ ...plot, x })), ...rows.map((row) => eventColumn(row, x))], from, to),
  }
}

/** What was lost in each step, in bytes; of gaps and outages the seconds. */
const eventColumn = ({ id, label, amounts }: ReturnType<typeof eventRows>[number], x: readonly number[]) => ({
  unit: id.startsWith('gap') || id === 'outage-time' ? 's' : 'bytes',
  factor: 1,
  x,
  curves: [{ id, label, style: 0, y: amounts }],
})
