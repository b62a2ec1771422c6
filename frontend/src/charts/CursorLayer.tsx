import { type PointerEvent, useRef, useState } from 'react'
import classes from './charts.module.css'
import { useCursor, useCursorStore } from './cursor'
import { seriesStyle } from './palette'
import { type Plot, pixelOf, xUnderPointer } from './plot'

interface CursorLayerProps {
  plot: Plot
  from: number
  to: number
  /** What every line shows at x, in the shown unit. */
  valuesAt: (x: number) => readonly { id: string; style: number; value: number | null }[]
  /** Ends of the value axis, in the shown unit. */
  bottom?: number
  top: number
  step?: number
  /** Called with the stretch that was dragged over with the mouse; without it dragging does nothing. */
  onSpan?: ((from: number, to: number) => void) | undefined
}

/** Less than this is a click with an unsteady hand. */
const DRAG_PX = 6

/** Follows the pointer over a plot and draws the shared cursor with a mark on every line. */
export function CursorLayer(props: CursorLayerProps) {
  const { plot, from, to, step = 1, onSpan } = props
  const store = useCursorStore()
  const start = useRef<number | null>(null)
  const [drag, setDrag] = useState<[number, number] | null>(null)
  const place = (event: PointerEvent<HTMLDivElement>) => event.clientX - event.currentTarget.getBoundingClientRect().left
  const move = (event: PointerEvent<HTMLDivElement>) => {
    store.set(xUnderPointer(place(event), plot, from, to, step))
    if (start.current !== null && Math.abs(place(event) - start.current) > DRAG_PX) setDrag([start.current, place(event)])
  }
  const press = (event: PointerEvent<HTMLDivElement>) => {
    move(event)
    start.current = onSpan && event.pointerType === 'mouse' ? place(event) : null
  }
  const release = () => {
    start.current = null
    setDrag(null)
    const ends = drag?.map((pixel) => xUnderPointer(pixel, plot, from, to, step)).sort((a, b) => (a ?? 0) - (b ?? 0))
    if (ends?.[0] != null && ends[1] != null && ends[0] < ends[1]) onSpan?.(ends[0], ends[1])
  }
  const leave = () => {
    store.set(null)
    start.current = null
    setDrag(null)
  }
  return (
    <div className={classes.cursorLayer} onPointerMove={move} onPointerDown={press} onPointerUp={release} onPointerLeave={leave}>
      <CursorMarks {...props} />
      {drag ? (
        <div className={classes.dragged} style={{ left: Math.min(...drag), width: Math.abs(drag[1] - drag[0]) }} aria-hidden="true" />
      ) : null}
    </div>
  )
}

function CursorMarks({ plot, from, to, valuesAt, bottom = 0, top }: CursorLayerProps) {
  const x = useCursor()
  if (x === null || x < from || x > to) return null
  const left = pixelOf(x, plot, from, to)
  return (
    <svg className={classes.cursorMarks} aria-hidden="true">
      <line x1={left} x2={left} y1={plot.top} y2={plot.top + plot.height} className={classes.cursorLine} />
      {valuesAt(x).map(({ id, style, value }) => {
        if (value === null) return null
        const y = plot.top + plot.height * (1 - (value - bottom) / (top - bottom))
        return <circle key={id} cx={left} cy={y} r={3.5} fill={seriesStyle(style).color} className={classes.cursorDot} />
      })}
    </svg>
  )
}
