import type { Glyph } from './marks'
import { paintOf } from './palette'
import { at, line, type Shape } from './scene'

/** Which series has which sign, so that points are told without colour. */
const OF_STYLE: readonly Glyph[] = ['circle', 'triangle', 'square', 'diamond']
export const glyphOf = (style: number): Glyph => OF_STYLE[style % OF_STYLE.length] ?? 'circle'

const closed = (points: readonly (readonly [number, number])[]) =>
  `${points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${at(x)} ${at(y)}`).join('')}Z`

/** Of all signs but the circle, which is a dot. */
const PATHS: Record<Exclude<Glyph, 'circle'>, (x: number, y: number, r: number) => string> = {
  bar: (x, y, r) => line(x, y - r, x, y + r),
  cross: (x, y, r) => line(x - r, y - r, x + r, y + r) + line(x - r, y + r, x + r, y - r),
  square: (x, y, r) =>
    closed([
      [x - 0.9 * r, y - 0.9 * r],
      [x + 0.9 * r, y - 0.9 * r],
      [x + 0.9 * r, y + 0.9 * r],
      [x - 0.9 * r, y + 0.9 * r],
    ]),
  triangle: (x, y, r) =>
    closed([
      [x, y - 1.15 * r],
      [x + 1.1 * r, y + 0.85 * r],
      [x - 1.1 * r, y + 0.85 * r],
    ]),
  diamond: (x, y, r) =>
    closed([
      [x, y - 1.25 * r],
      [x + 1.25 * r, y],
      [x, y + 1.25 * r],
      [x - 1.25 * r, y],
    ]),
  hexagon: (x, y, r) =>
    closed([
      [x, y - 1.1 * r],
      [x + r, y - 0.55 * r],
      [x + r, y + 0.55 * r],
      [x, y + 1.1 * r],
      [x - r, y + 0.55 * r],
      [x - r, y - 0.55 * r],
    ]),
}

/** A sign around a point, in its series' colour. */
export function glyphShape(glyph: Glyph, style: number, x: number, y: number, r: number): Shape {
  const paint = paintOf(style)
  if (glyph === 'circle') return { is: 'dot', x, y, r, fill: paint }
  const d = PATHS[glyph](x, y, r)
  return glyph === 'bar' || glyph === 'cross' ? { is: 'path', d, stroke: paint, width: r * 0.5 } : { is: 'path', d, fill: paint }
}
