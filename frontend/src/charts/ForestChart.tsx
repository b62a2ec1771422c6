import { Drawing } from './Drawing'
import { SCREEN } from './plot'
import { type ForestRow, forestHeight, forestShapes } from './rowShapes'

/** Differences under each other over one axis with a zero line: thick the t interval, thin below it the bootstrap. */
export function ForestChart({ rows, width }: { rows: readonly ForestRow[]; width: number }) {
  return <Drawing width={width} height={forestHeight(rows.length, SCREEN)} shapes={forestShapes(rows, width, SCREEN)} />
}
