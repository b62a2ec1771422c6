import { type PointerEvent, useMemo } from 'react'
import classes from './charts.module.css'

/** Where a run stands in a chart, in pixels. */
export interface RunPlace {
  id: string
  left: number
  top: number
}

interface RunFinderProps {
  places: readonly RunPlace[]
  picked: string | null
  onPick: (id: string | null) => void
  onOpen: (id: string) => void
}

/** No run further from the pointer than this is meant. */
const REACH_PX = 28

/** The run under the pointer: named while it is there, opened by a click. Fingers pick first: the second tap opens. */
export function RunFinder({ places, picked, onPick, onOpen }: RunFinderProps) {
  const ring = useMemo(() => places.find(({ id }) => id === picked), [places, picked])
  const find = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return nearest(places, event.clientX - box.left, event.clientY - box.top)
  }
  const press = (event: PointerEvent<HTMLDivElement>) => {
    const found = find(event)
    if (found !== null && (event.pointerType === 'mouse' || found === picked)) onOpen(found)
    else onPick(found)
  }
  return (
    <div
      className={classes.runFinder}
      data-found={ring ? true : undefined}
      onPointerMove={(event) => (event.pointerType === 'mouse' ? onPick(find(event)) : undefined)}
      onPointerUp={press}
      aria-hidden="true"
    >
      {ring ? <span className={classes.runRing} style={{ left: ring.left, top: ring.top }} /> : null}
    </div>
  )
}

/** The nearest run within reach, if any. */
export function nearest(places: readonly RunPlace[], left: number, top: number): string | null {
  let best: { id: string; distance: number } | null = null
  for (const place of places) {
    const distance = Math.hypot(place.left - left, place.top - top)
    if (distance <= REACH_PX && (best === null || distance < best.distance)) best = { id: place.id, distance }
  }
  return best?.id ?? null
}
