import { paintOf } from './palette'
import { at, type Shape } from './scene'

/** Layers of a stack differ in hue and in pattern: plain, rising lines, dots, level lines. Series that decide their colours. */
export const LAYER_STYLES = [0, 1, 2, 5] as const

interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** An outline filled as a layer is. box: what holds it. scale: of the pattern, 1 on a page. */
export function layerShapes(d: string, box: Box, layer: number, scale = 1): Shape[] {
  const style = LAYER_STYLES[layer % LAYER_STYLES.length] ?? 0
  const paint = paintOf(style)
  const place = layer % LAYER_STYLES.length
  const area: Shape = { is: 'path', d, fill: paint, opacity: place === 0 ? 0.85 : 0.28 }
  if (place === 0) return [area]
  const step = 8 * scale
  const marks: Shape =
    place === 2
      ? { is: 'path', d: dots(box, step), fill: paint }
      : { is: 'path', d: place === 1 ? rising(box, step) : level(box, step), stroke: paint, width: 2 * scale }
  return [area, { is: 'clip', d, shapes: [marks] }]
}

const steps = (from: number, to: number, step: number) => {
  const first = Math.floor(from / step) * step
  return Array.from({ length: Math.ceil((to - first) / step) + 1 }, (_, index) => first + index * step)
}

const level = ({ x, y, width, height }: Box, step: number) =>
  steps(y, y + height, step)
    .map((at_y) => `M${at(x)} ${at(at_y)}H${at(x + width)}`)
    .join('')

const rising = ({ x, y, width, height }: Box, step: number) =>
  steps(x - height, x + width, step)
    .map((left) => `M${at(left)} ${at(y + height)}L${at(left + height)} ${at(y)}`)
    .join('')

const dots = ({ x, y, width, height }: Box, step: number) => {
  const side = step * 0.35
  return steps(y, y + height, step)
    .flatMap((top) => steps(x, x + width, step).map((left) => `M${at(left)} ${at(top)}h${at(side)}v${at(side)}h${at(-side)}z`))
    .join('')
}
