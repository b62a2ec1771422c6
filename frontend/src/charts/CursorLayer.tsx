import type { PointerEvent } from 'react'
import type { BandSeries } from './bands'
import { readingAt } from './bands'
import classes from './charts.module.css'
import { useCursor, useCursorStore } from './cursor'
import { seriesStyle } from './palette'
import { type Plot, pixelOf, xUnderPointer } from './plot'

interface CursorLayerProps {
  plot: Plot
  from: number
  to: number
  series: readonly BandSeries[]
  factor: number
  top: number
}

/** Follows the pointer over a plot and draws the shared cursor with a mark on every mean. */
export function CursorLayer({ plot, from, to, series, factor, top }: CursorLayerProps) {
  const store = useCursorStore()
  const move = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    store.set(xUnderPointer(event.clientX - box.left, plot, from, to))
  }
  return (
    <div className={classes.cursorLayer} onPointerMove={move} onPointerDown={move} onPointerLeave={() => store.set(null)}>
      <CursorMarks plot={plot} from={from} to={to} series={series} factor={factor} top={top} />
    </div>
  )
}

function CursorMarks({ plot, from, to, series, factor, top }: CursorLayerProps) {
  const x = useCursor()
  if (x === null || x < from || x > to) return null
  const left = pixelOf(x, plot, from, to)
  return (
    <svg className={classes.cursorMarks} aria-hidden="true">
      <line x1={left} x2={left} y1={plot.top} y2={plot.top + plot.height} className={classes.cursorLine} />
      {series.map((one) => {
        const mean = readingAt(one, x)?.mean
        if (mean == null) return null
        const y = plot.top + plot.height * (1 - (mean * factor) / top)
        return <circle key={one.id} cx={left} cy={y} r={3.5} fill={seriesStyle(one.style).color} className={classes.cursorDot} />
      })}
    </svg>
  )
}
