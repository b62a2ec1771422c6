import type { Curve } from '@/charts/curves'
import type { Figure } from '@/charts/figure'
import { curvePanel, curveTable } from '@/charts/panels'
import { captionOf, countSentence, fileName, type Source, sourceSentence } from '@/lib/captions'
import { exitDistributions, type LookedAt } from './groups'

const REACH = [0, 100] as const

/** When each detector would have left slow start. */
export function exitsFigure(shown: readonly LookedAt[], group: string, source: Source): Figure {
  const { x, curves, to } = exitDistributions(shown)
  const head = { title: 'Exited by then', unit: '% of decidable runs' }
  return {
    file: fileName(source.campaign, group, 'exit-times'),
    title: 'Exit times',
    columns: [
      { panels: [curvePanel(head, { x, curves, from: 0, to, factor: 1, reach: REACH, hasTimeAxis: true, isStepped: true }, true)] },
    ],
    legend: curves.map(({ label, style }: Curve) => ({ label, style })),
    xTitle: "Seconds since each flow's first data byte",
    caption: captionOf(
      `Cumulative share of the decidable runs of ${group} in which each detector, replayed over the same traces, had left slow start. A line that ends below 100 % belongs to a rule that never fired in the other runs.`,
      countSentence(shown.map(({ look, exits }) => ({ label: look.name, n: exits.decidable }))),
      sourceSentence(source),
    ),
    table: curveTable('Time (s)', [{ unit: '% of decidable runs', factor: 1, x, curves }], 0, to),
  }
}
