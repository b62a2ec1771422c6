import { oneOf, text, texts } from '@/lib/search'

export const OBJECT_BASES = ['sender', 'requested', 'receiver'] as const
export const DELAY_KINDS = ['arrival', 'order', 'jitter'] as const
export const RATES = ['throughput', 'goodput'] as const
const LAYOUTS = ['overlaid', 'columns'] as const
const RANGES = ['all', 'startup', 'steady'] as const

export interface ResultsSearch {
  link?: string | undefined
  /** Series switched off in the legend, by label. */
  hide?: string[] | undefined
  phase?: string | undefined
  range?: (typeof RANGES)[number] | undefined
  band?: 'off' | undefined
  /** Without it side by side where there are too many series for one chart. */
  layout?: (typeof LAYOUTS)[number] | undefined
  /** The condition that others are compared with; without it the campaign's first. */
  baseline?: string | undefined
  objects?: (typeof OBJECT_BASES)[number] | undefined
  /** Until when delays of blocks last, or their jitter; without it until they had arrived. */
  delay?: (typeof DELAY_KINDS)[number] | undefined
  /** Which rate of single seconds; without it throughput. */
  rate?: (typeof RATES)[number] | undefined
  /** What is drawn over what the campaign varied; without it the first primary metric. */
  metric?: string | undefined
  /** Multiples of the first condition instead of values. */
  gain?: 'ratio' | undefined
}

export function parseResultsSearch(search: Record<string, unknown>): ResultsSearch {
  return {
    link: text(search.link),
    hide: texts(search.hide),
    phase: text(search.phase),
    range: oneOf(search.range, RANGES),
    baseline: text(search.baseline),
    band: oneOf(search.band, ['off']),
    layout: oneOf(search.layout, LAYOUTS),
    objects: oneOf(search.objects, OBJECT_BASES),
    delay: oneOf(search.delay, DELAY_KINDS),
    rate: oneOf(search.rate, RATES),
    metric: text(search.metric),
    gain: oneOf(search.gain, ['ratio']),
  }
}
