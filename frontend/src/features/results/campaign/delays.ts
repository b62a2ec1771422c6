import type { CampaignDelays, PooledDelay } from '@/api/types'
import type { CdfRow } from './cdf'
import type { LabelledGroup } from './series'

export type DelayKind = 'one_way_delay' | 'in_order_delay' | 'jitter'

interface DelayWords {
  /** Of a campaign file. */
  metric: string
  title: string
  /** What each value is of. */
  counted: string
  /** Over their number in a table. */
  head: string
  /** What the values are, on an axis and in a caption. */
  axis: string
  /** How one value comes about. */
  definition: string
}

export const DELAY_WORDS: Record<DelayKind, DelayWords> = {
  one_way_delay: {
    metric: 'one_way_delay_ms',
    title: 'One-way delay of blocks',
    counted: 'blocks',
    head: 'Blocks',
    axis: 'One-way delay, until all of a block had arrived',
    definition: 'From a block’s first departure, or a message’s offer, until all of it had arrived.',
  },
  in_order_delay: {
    metric: 'in_order_delay_ms',
    title: 'One-way delay of blocks',
    counted: 'blocks',
    head: 'Blocks',
    axis: 'One-way delay, until a block was in order',
    definition: 'From a block’s first departure, or a message’s offer, until it was available in order to the program.',
  },
  jitter: {
    metric: 'jitter_ms',
    title: 'Jitter',
    counted: 'pairs of seconds',
    head: 'Pairs',
    axis: 'Jitter, change of the mean one-way delay from second to second',
    definition: 'Absolute change of the blocks’ mean one-way delay from one second to the next.',
  },
}

/** A condition's pooled values, with the label and the colour that it has on the page. */
export interface DelayRow extends CdfRow {
  runs: number
  delay: PooledDelay
}

/** Those of the groups that the page shows; none where no run of the campaign kept a delivery table. */
export function delayRows(found: Pick<CampaignDelays, 'groups'>, groups: readonly LabelledGroup[], kind: DelayKind): DelayRow[] {
  return groups.flatMap(({ label, style, group }) => {
    const own = found.groups.find(
      (one) => one.link === group.link && one.condition === group.condition && one.flow === group.flow && one.cc === group.cc,
    )
    const delay = own?.delays.find((one) => one.kind === kind)
    return own && delay ? [{ label, style, runs: own.runs, delay, quantiles: delay.quantiles_ms }] : []
  })
}

/** Why runs are not in it: each reason once for all conditions, with its runs. */
export function leftOut(rows: readonly DelayRow[]): { sentence: string; runs: number }[] {
  const found = new Map<string, number>()
  for (const { delay } of rows) for (const { sentence, runs } of delay.left_out) found.set(sentence, (found.get(sentence) ?? 0) + runs)
  return [...found].map(([sentence, runs]) => ({ sentence, runs }))
}
