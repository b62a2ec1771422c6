import { useElementSize } from '@mantine/hooks'
import classes from './charts.module.css'
import { MarkGlyph } from './MarkGlyph'
import { type Mark, placeMarks } from './marks'
import { plotOf } from './plot'

const ROW_HEIGHT = 16

interface MarkStripProps {
  marks: readonly Mark[]
  from: number
  to: number
}

/** The flags of a stack's marks, above the charts and in line with them. Words and times stand in a table elsewhere. */
export function MarkStrip({ marks, from, to }: MarkStripProps) {
  const { ref, width } = useElementSize()
  const placed = placeMarks(marks, plotOf(width, 0, false), from, to)
  const rows = Math.max(1, ...placed.map(({ row }) => row + 1))
  return (
    <div ref={ref}>
      <svg width="100%" height={rows * ROW_HEIGHT} className={classes.flags} aria-hidden="true">
        {placed.map(({ id, left, row, isBefore, code, glyph, style }) => (
          <g key={id}>
            <MarkGlyph glyph={glyph} style={style} x={left - 5} y={row * ROW_HEIGHT + 3} />
            <text x={isBefore ? left - 8 : left + 8} textAnchor={isBefore ? 'end' : 'start'} y={row * ROW_HEIGHT + 12}>
              {code}
            </text>
          </g>
        ))}
      </svg>
    </div>
  )
}
