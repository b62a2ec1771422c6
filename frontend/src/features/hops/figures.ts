import type { FlowHops, LinkCourse, Run } from '@/api/types'
import type { Figure, FigureColumn } from '@/charts/figure'
import { curvePanel, curveTable } from '@/charts/panels'
import { captionOf, fileName } from '@/lib/captions'
import { runSentence } from '@/lib/runs'
import { changesOf, curvesOf, hopTitle, KINDS, mostOf } from './hops'
import type { ShownName } from './search'

/** More stand side by side only where there are many hops. */
const IN_COLUMN = 6

/** The same quantity of every hop, or of the one that is named. */
export function hopsFigure(run: Run, flow: FlowHops, shown: ShownName, only?: number): Figure {
  const { title, unit, factor } = KINDS[shown]
  const hops = flow.hops.filter((_, index) => only === undefined || index === only)
  const shared = { x: flow.time_s, from: 0, to: flow.end_s, factor, isStepped: true, atLeast: mostOf(flow, shown) }
  const panels = hops.map((hop, index) =>
    curvePanel(
      { title: hopTitle(hop), unit },
      {
        ...shared,
        curves: curvesOf(hop, shown),
        marks: changeMarks(changesOf(hop, flow.time_s)),
        hasTimeAxis: index % IN_COLUMN === IN_COLUMN - 1 || index === hops.length - 1,
      },
    ),
  )
  const columns: FigureColumn[] = []
  for (let first = 0; first < panels.length; first += IN_COLUMN) columns.push({ panels: panels.slice(first, first + IN_COLUMN) })
  const [first] = hops
  return {
    file: fileName('run', run.condition, `cycle ${run.cycle}`, `flow ${flow.flow}`, 'hops', title),
    title: `${title} of each hop`,
    columns,
    legend: first && curvesOf(first, shown).length > 1 ? curvesOf(first, shown).map(({ label, style }) => ({ label, style })) : [],
    xTitle: "Seconds since the run's zero",
    caption: captionOf(`${title} of each hop of flow ${flow.flow}, from the sender on (n = 1).`, runSentence(run)),
    table: curveTable(
      'Time (s)',
      hops.map((hop) => ({ title: hopTitle(hop), unit, factor, x: flow.time_s, curves: curvesOf(hop, shown) })),
      0,
      flow.end_s,
    ),
  }
}

/** What the way through satellites took, and when it changed. */
export const pathCurves = (course: LinkCourse) => [{ id: 'path', label: 'One-way delay', style: 0, y: course.ways.down.delay_ms }]
export const pathMarks = (course: LinkCourse) => course.path_changes_s.map((x, index) => ({ id: `${index} ${x}`, x, style: 3 }))

/** The strip of the path above the hops. */
export function pathFigure(run: Run, course: LinkCourse, to: number): Figure {
  const name = run.link_log?.path?.name ?? ''
  const curves = pathCurves(course)
  const shared = { x: course.time_s, curves, from: 0, to, factor: 1, isStepped: true, isClose: true }
  return {
    file: fileName('run', run.condition, `cycle ${run.cycle}`, 'path'),
    title: 'One-way delay of the path',
    columns: [
      {
        panels: [
          curvePanel({ title: 'One-way delay of the path', unit: 'ms' }, { ...shared, marks: pathMarks(course), hasTimeAxis: true }),
        ],
      },
    ],
    legend: [],
    xTitle: "Seconds since the run's zero",
    caption: captionOf(`One-way delay of the path ${name}, without queues. Dashed: change of path.`, runSentence(run)),
    table: curveTable('Time (s)', [{ title: 'One-way delay of the path', unit: 'ms', factor: 1, x: course.time_s, curves }], 0, to),
  }
}

/** A vertical line where another satellite takes over. */
export const changeMarks = (changes: readonly { at_s: number; node: number }[]) =>
  changes.map(({ at_s, node }) => ({ id: `${at_s} ${node}`, x: at_s, style: 3 }))
