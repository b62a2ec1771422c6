import { Drawing } from './Drawing'
import { SCREEN } from './plot'
import { type SpreadBox, spreadHeight, spreadShapes } from './spreadShapes'

/** A dot per run and condition over one axis, with boxes where there are enough. */
export function SpreadChart({ width, picked, ...box }: SpreadBox & { width: number; picked: string | null }) {
  return <Drawing width={width} height={spreadHeight(box.rows.length, SCREEN)} shapes={spreadShapes(box, width, SCREEN)} picked={picked} />
}
