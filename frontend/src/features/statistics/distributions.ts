import type { CampaignValues, ValuesOfRuns } from '@/api/types'
import { cumulative, type SpreadRow, spreadSpan } from '@/charts/spread'
import type { Measure } from '@/lib/quantities'

type RunValues = Pick<ValuesOfRuns, 'run_ids' | 'cycles' | 'values' | 'not_within'>

/** What the runs of a condition gave, under the name and with the colour that it has on the page. */
export interface LabelledValues {
  label: string
  style: number
  side: RunValues
}

/** Those of a link's flow. Colours go by a condition's place among all flows of its link, as in Results. */
export function sidesAt({ sides }: Pick<CampaignValues, 'sides'>, link: string, flow: number): LabelledValues[] {
  const beside = sides.filter((side) => side.link === link && side.flow > 0 === flow > 0)
  return beside.flatMap((side, style) => (side.flow === flow ? [{ label: side.condition, style, side }] : []))
}

/** In the shown unit; runs without a value are left out. */
export const spreadRows = (sides: readonly LabelledValues[], factor: number): SpreadRow[] =>
  sides.map(({ label, style, side }) => ({ id: label, label, style, dots: dotsOf(side, factor) }))

function dotsOf({ values, not_within }: RunValues, factor: number): SpreadRow['dots'] {
  return values.flatMap((value, index) => (value === null ? [] : [{ value: value * factor, isOpen: not_within[index] ?? false }]))
}

/** What both charts of a distribution draw, over the same axis. */
export function distributionOf(rows: readonly SpreadRow[]) {
  const [from, to] = spreadSpan(rows)
  return { rows, from, to, ...cumulative(rows, from, to) }
}

/** Whether some runs did not come to it, which is drawn otherwise. */
export const hasOpen = (rows: readonly SpreadRow[]) => rows.some(({ dots }) => dots.some(({ isOpen }) => isOpen))

export const shareUnit = ({ name }: Pick<Measure, 'name'>) =>
  name.startsWith('time_to_') ? '% of the runs by then' : '% of the runs, up to here'
