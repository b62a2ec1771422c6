import { scaledDash } from './chartShapes'
import { glyphOf, glyphShape } from './glyphs'
import { layerShapes } from './layerShapes'
import { paintOf, seriesStyle } from './palette'
import { PAPER } from './plot'
import { line, moved, type Shape } from './scene'
import { textWidth } from './textWidth'

/** A series' line, or a layer's fill, with its name. */
export type LegendKey = { label: string } & ({ style: number; isDotted?: boolean } | { layer: number })

const SWATCH = 16
const GAP = 12

/** Names beside their lines, in as many rows as they take. */
export function legendShapes(keys: readonly LegendKey[], width: number, size: number): { shapes: Shape[]; height: number } {
  const row = size + 3
  let [x, y] = [0, 0]
  const shapes = keys.flatMap((key): Shape[] => {
    const own = SWATCH + 4 + textWidth(key.label, size)
    if (x > 0 && x + own > width) [x, y] = [0, y + row]
    const place = moved(swatch(key, size), x, y)
    const label: Shape = { is: 'text', x: x + SWATCH + 4, y: y + size, text: key.label, size, fill: 'chart-ink' }
    x += own + GAP
    return [...place, label]
  })
  return { shapes, height: y + row }
}

function swatch(key: LegendKey, size: number): Shape[] {
  const middle = size * 0.65
  if ('layer' in key)
    return layerShapes(`M0 ${middle - 3}H${SWATCH}V${middle + 3}H0z`, { x: 0, y: middle - 3, width: SWATCH, height: 6 }, key.layer, 0.5)
  const { dash } = seriesStyle(key.style)
  if (key.isDotted) return [glyphShape(glyphOf(key.style), key.style, SWATCH / 2, middle, size * 0.35)]
  return [
    { is: 'path', d: line(0, middle, SWATCH, middle), stroke: paintOf(key.style), width: PAPER.mean * 1.2, dash: scaledDash(dash, PAPER) },
  ]
}
