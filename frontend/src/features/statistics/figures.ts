import type { Comparison } from '@/api/types'
import type { Figure } from '@/charts/figure'
import { forestPanel, withUnit } from '@/charts/panels'
import { captionOf, countSentence, fileName, type Source, sourceSentence } from '@/lib/captions'
import { phaseTitle } from '@/lib/quantities'
import { forestRows, type Place } from './measures'

/** The paired differences of one metric. */
export function differencesFigure({ metric, phase }: Place, shown: readonly Comparison[], source: Source): Figure {
  const rows = forestRows(shown, metric.factor)
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
        one.paired_ratio.mean,
        one.paired_ratio.low,
        one.paired_ratio.high,
        one.difference.n,
      ]),
    },
  }
}
