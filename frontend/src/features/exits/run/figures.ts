import type { Run } from '@/api/types'
import type { Window } from '@/charts/axes'
import type { Figure } from '@/charts/figure'
import type { Mark } from '@/charts/marks'
import { curvePanel, curveTable } from '@/charts/panels'
import { captionOf, fileName } from '@/lib/captions'
import { runSentence } from '@/lib/runs'
import type { CurvePlot } from './plots'

interface Drawn {
  from: number
  to: number
  windows: readonly Window[]
  marks: readonly Mark[]
}

/** One chart of a flow's slow start, with the exits as vertical lines. */
export function curvesFigure(run: Run, flow: number, plot: CurvePlot, { from, to, windows, marks }: Drawn): Figure {
  const { title, curves } = plot
  const shown = marks.filter(({ x }) => x >= from && x <= to)
  return {
    file: fileName('run', run.condition, `cycle ${run.cycle}`, `flow ${flow}`, title),
    title,
    columns: [
      {
        panels: [
          curvePanel(plot, { ...plot, from, to, windows, marks: shown, hasTimeAxis: true, areWindowsNamed: windows.length > 0 }, true),
        ],
      },
    ],
    legend: [...curves, ...shown].map(({ label, style }) => ({ label, style })),
    xTitle: "Seconds since the flow's first data byte",
    caption: captionOf(
      `${title} of flow ${flow} (n = 1).`,
      shown.length > 0 ? `Vertical lines: ${shown.map(({ label, x }) => `${label} ${x.toFixed(2)} s`).join(', ')}.` : undefined,
      runSentence(run),
    ),
    table: curveTable('Time (s)', [plot], from, to),
  }
}
