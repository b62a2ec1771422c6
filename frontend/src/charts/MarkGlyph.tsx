import type { Glyph } from './marks'
import { seriesStyle } from './palette'

const PATHS: Record<Glyph, string> = {
  bar: 'M5 0V10',
  circle: 'M5 1a4 4 0 1 0 .01 0z',
  cross: 'M1 1L9 9M9 1L1 9',
  square: 'M1.2 1.2h7.6v7.6h-7.6z',
  triangle: 'M5 .8L9.4 9H.6z',
  diamond: 'M5 0L10 5 5 10 0 5z',
  hexagon: 'M5 .4L9 2.7V7.3L5 9.6 1 7.3V2.7z',
}
const IS_OPEN: readonly Glyph[] = ['bar', 'cross']

/** The shape of a mark's flag, ten pixels wide. */
export function MarkGlyph({ glyph, style, x = 0, y = 0 }: { glyph: Glyph; style: number; x?: number; y?: number }) {
  const { color } = seriesStyle(style)
  return (
    <path
      d={PATHS[glyph]}
      transform={`translate(${x} ${y})`}
      fill={IS_OPEN.includes(glyph) ? 'none' : color}
      stroke={color}
      strokeWidth={IS_OPEN.includes(glyph) ? 2.2 : 0}
    />
  )
}
