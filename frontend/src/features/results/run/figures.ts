import type { Run, RunSeries } from '@/api/types'
import type { Figure } from '@/charts/figure'
import { bandPanel, bandTable } from '@/charts/panels'
import { captionOf, fileName } from '@/lib/captions'
import type { RUN_STACKED } from '@/lib/quantities'
import { runSentence } from '@/lib/runs'
import { flowLabel, flowSeries } from './series'

type Quantity = (typeof RUN_STACKED)[number]

/** A run's own series, one quantity or all of them. */
export function runFigure(run: Run, series: RunSeries, quantities: readonly Quantity[], to: number): Figure {
  const last = quantities.length - 1
  const [only] = quantities
  const columns = quantities.map((quantity) => ({ ...quantity, series: flowSeries(series, quantity.name), hasBands: false }))
  return {
    file: fileName('run', run.condition, `cycle ${run.cycle}`, quantities.length === 1 ? only?.title : 'stack'),
    title: `${run.condition}, cycle ${run.cycle}`,
    columns: [
      {
        panels: columns.map((quantity, index) =>
          bandPanel(quantity, { ...quantity, from: 0, to, hasTimeAxis: index === last }, quantities.length === 1),
        ),
      },
    ],
    legend: series.flows.map((flow, style) => ({ label: flowLabel(flow), style })),
    xTitle: "Seconds since the flow's first data byte",
    caption: captionOf(`${quantities.map(({ title }) => title).join(', ')} of one run (n = 1), in one-second bins.`, runSentence(run)),
    table: bandTable('Time (s)', columns, 0, to),
  }
}
