import type { ExitGroup } from '@/api/types'
import type { Curve } from '@/charts/curves'
import type { Figure } from '@/charts/figure'
import { barsPanel, curvePanel, curveTable } from '@/charts/panels'
import type { Cell } from '@/charts/table'
import { captionOf, countSentence, fileName, type Source, sourceSentence } from '@/lib/captions'
import { basesText, exitDistributions, type LookedAt, TIMINGS } from './groups'

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

const PERCENT = 100

/** How often each detector was early, good or late. */
export function timingFigure(shown: readonly LookedAt[], group: string, bases: ExitGroup['bases'], source: Source): Figure {
  const known = shown.flatMap(({ look, exits: { shares } }) => (shares ? [{ label: look.name, shares }] : []))
  const percent = (ratio: number | null): Cell => (ratio === null ? null : ratio * PERCENT)
  return {
    file: fileName(source.campaign, group, 'exit-timing'),
    title: 'Early, good or late',
    columns: [
      {
        panels: [
          barsPanel(
            'Share of the decidable runs (%)',
            known.map(({ label, shares }) => ({ label, shares: TIMINGS.map((timing) => shares[timing].value) })),
          ),
        ],
      },
    ],
    legend: TIMINGS.map((label, layer) => ({ label, layer })),
    caption: captionOf(
      `Slow-start exits of ${group}. Early: before capacity was reached. Good: after it and before the first loss. Late: at or after the first loss. Open: no exit and no loss. ${basesText(bases)}`,
      countSentence(known.map(({ label, shares }) => ({ label, n: shares.good.n }))),
      sourceSentence(source),
    ),
    table: {
      heads: ['Detector', ...TIMINGS.flatMap((timing) => ['', ' low', ' high'].map((end) => `${timing}${end} (%)`)), 'n'],
      rows: known.map(({ label, shares }): Cell[] => [
        label,
        ...TIMINGS.flatMap((timing) => [shares[timing].value, shares[timing].low, shares[timing].high].map(percent)),
        shares.good.n,
      ]),
    },
  }
}
