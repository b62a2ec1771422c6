import type { Comparison } from '@/api/types'
import type { Figure } from '@/charts/figure'
import { curvePanel, forestPanel, spreadPanel, withUnit } from '@/charts/panels'
import type { SpreadRow } from '@/charts/spread'
import { captionOf, countSentence, fileName, type Source, sourceSentence } from '@/lib/captions'
import { cycleRatio } from '@/lib/comparisons'
import { phaseTitle } from '@/lib/quantities'
import { distributionOf, hasOpen, shareUnit } from './distributions'
import { forestRows, type Place } from './measures'

/** The paired differences of one metric. */
export function differencesFigure(
  { metric, phase }: Place,
  shown: readonly Comparison[],
  conditions: readonly string[],
  source: Source,
): Figure {
  const rows = forestRows(shown, metric.factor, conditions)
  const head = (word: string) => withUnit(word, metric.unit)
  const title = `${metric.title}, ${phaseTitle(phase).toLowerCase()}: difference to ${shown[0]?.baseline ?? ''}`
  return {
    file: fileName(source.campaign, source.linkName, 'differences', phase, metric.name),
    title,
    columns: [{ panels: [forestPanel({ title, unit: metric.unit }, rows)] }],
    legend: [],
    caption: captionOf(
      'Mean of the differences within cycles. Thick: 95 % paired-t interval; thin below it: bootstrap interval.',
      countSentence(shown.map(({ condition, difference }) => ({ label: condition, n: difference.n }))).replace(/runs?\b/, 'cycles'),
      sourceSentence(source),
    ),
    table: {
      heads: [
        'Compared',
        head('Difference'),
        head('95 % low'),
        head('95 % high'),
        head('Bootstrap low'),
        head('Bootstrap high'),
        'Ratio of means',
        'Ratio per cycle',
        'Ratio per cycle 95 % low',
        'Ratio per cycle 95 % high',
        'Cycles',
      ],
      rows: shown.map((one, index) => [
        rows[index]?.label ?? '',
        ...[rows[index]?.mean, rows[index]?.low, rows[index]?.high, rows[index]?.bootstrap_low, rows[index]?.bootstrap_high].map(
          (value) => value ?? null,
        ),
        one.ratio,
        ...(['mean', 'low', 'high'] as const).map((part) => cycleRatio(one)?.[part] ?? null),
        one.difference.n,
      ]),
    },
  }
}

/** One quantity of every run: dots with boxes over the cumulative shares. */
export function distributionFigure({ metric, phase }: Pick<Place, 'metric' | 'phase'>, rows: readonly SpreadRow[], source: Source): Figure {
  const { from, to, x, curves } = distributionOf(rows)
  const title = `${metric.title}, ${phaseTitle(phase).toLowerCase()}`
  const share = { x, curves, from, to, factor: 1, reach: [0, 100] as const, hasTimeAxis: true, isStepped: true }
  return {
    file: fileName(source.campaign, source.link?.name ?? source.linkName, 'ecdf', phase, metric.name),
    title,
    columns: [
      {
        panels: [
          spreadPanel({ title: 'Single runs', unit: metric.unit }, { rows, from, to }),
          curvePanel({ title: 'Cumulative distribution', unit: shareUnit(metric) }, share, true),
        ],
      },
    ],
    legend: rows.map(({ label, style }) => ({ label, style })),
    xTitle: withUnit(title, metric.unit),
    caption: captionOf(
      `${title}: a dot per run; from five runs on with the median, the middle half and whiskers to the last run within 1.5 of its length. Below: cumulative share of the runs.`,
      hasOpen(rows) ? 'Open circles: it did not happen while the run was watched; such runs keep a line below 100 %.' : undefined,
      countSentence(rows.map(({ label, dots }) => ({ label, n: dots.length }))),
      sourceSentence(source),
    ),
    table: {
      heads: ['Condition', withUnit(metric.title, metric.unit), 'Is only the time watched'],
      rows: rows.flatMap(({ label, dots }) => dots.map(({ value, isOpen }) => [label, value, isOpen ? 'yes' : 'no'])),
    },
  }
}
