import type { CampaignsCompared, Compared } from '@/api/types'
import type { Figure } from '@/charts/figure'
import { forestPanel, withUnit } from '@/charts/panels'
import type { ForestRow } from '@/charts/rowShapes'
import { captionOf, fileName, type Source, sourceSentence } from '@/lib/captions'
import { differenceText } from '@/lib/comparisons'
import { formatEstimate } from '@/lib/format'
import { MEASURES, type Measure, phaseTitle } from '@/lib/quantities'

/** What can be looked at: the phases, and the quantities of one of them. */
export function choicesOf({ offered }: Pick<CampaignsCompared, 'offered'>, phase: string) {
  const has = new Set(offered.filter((one) => one.phase === phase).map(({ metric }) => metric))
  return { phases: [...new Set(offered.map((one) => one.phase))], metrics: MEASURES.filter(({ name }) => has.has(name)) }
}

/** A side that is not the baseline, with what it differs by. */
export interface Against {
  index: number
  label: string
  difference: NonNullable<Compared['differences'][number]>
  ratio: Compared['ratios'][number]
}

export function against(compared: Compared, labels: readonly string[]): Against[] {
  return compared.differences.flatMap((difference, index) =>
    difference ? [{ index, label: labels[index] ?? '', difference, ratio: compared.ratios[index] ?? null }] : [],
  )
}

/** Rows of the forest plot, in the shown unit. Colours go by the order of the sides. */
export function rowsOf(shown: readonly Against[], factor: number): ForestRow[] {
  const scaled = (value: number | null) => (value === null ? null : value * factor)
  return shown.map(({ label, index, difference }) => ({
    label,
    style: index,
    mean: scaled(difference.mean),
    low: scaled(difference.low),
    high: scaled(difference.high),
    bootstrap_low: null,
    bootstrap_high: null,
  }))
}

const ratioOf = (ratio: Against['ratio']) => (ratio && ratio.mean !== null ? formatEstimate(ratio) : null)

/** "+41.2 Mb/s (+38.0 to +44.4), 9.6 (8.1–11.3) times; n = 3 against 5." */
export function effectSentence({ difference, ratio }: Against, measure: Measure): string {
  const { n, n_base } = difference
  const times = ratioOf(ratio)
  const effect = [differenceText(difference, measure), times && `${times} times`].filter(Boolean).join(', ')
  const few = n > 0 && n_base > 0 && Math.min(n, n_base) < 2 ? ' One run has no interval.' : ''
  return `${effect}; n = ${n} against ${n_base}.${few}`
}

/** "Times count up to 20 s, …", where some run did not get there. */
export const withinSentence = ({ within_s }: Compared) =>
  within_s === null ? '' : `Times are capped at ${within_s} s, the shortest observation that ended without the event.`

interface UnpairedFigure {
  compared: Compared
  labels: readonly string[]
  baseline: string
  measure: Measure
  source: Source
}

/** The differences of one quantity to the baseline. */
export function unpairedFigure({ compared, labels, baseline, measure, source }: UnpairedFigure): Figure {
  const shown = against(compared, labels)
  const rows = rowsOf(shown, measure.factor)
  const title = `${measure.title}, ${phaseTitle(compared.phase).toLowerCase()}: difference to ${baseline}`
  const head = (word: string) => withUnit(word, measure.unit)
  return {
    file: fileName('comparison', compared.phase, measure.name),
    title,
    columns: [{ panels: [forestPanel({ title, unit: measure.unit }, rows)] }],
    legend: [],
    caption: captionOf(
      "Difference of means over runs with Welch's 95 % interval; runs are not paired, and nothing is tested.",
      `n = ${shown.map(({ label, difference }) => `${difference.n} (${label})`).join(', ')} against ${shown[0]?.difference.n_base ?? 0} runs.`,
      withinSentence(compared),
      sourceSentence(source),
    ),
    table: {
      heads: [
        'Compared',
        head('Difference'),
        head('95 % low'),
        head('95 % high'),
        'Degrees of freedom',
        'Ratio of geometric means',
        'Ratio 95 % low',
        'Ratio 95 % high',
        'Runs',
        'Runs of the baseline',
      ],
      rows: shown.map(({ label, difference, ratio }, index) => [
        label,
        ...[rows[index]?.mean, rows[index]?.low, rows[index]?.high].map((value) => value ?? null),
        difference.degrees,
        ...(['mean', 'low', 'high'] as const).map((part) => ratio?.[part] ?? null),
        difference.n,
        difference.n_base,
      ]),
    },
  }
}
