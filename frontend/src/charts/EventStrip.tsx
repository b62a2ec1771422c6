import { CursorLayer } from './CursorLayer'
import { Drawing } from './Drawing'
import { plotOf, SCREEN } from './plot'
import { type EventBox, eventShapes, eventsHeight } from './timeShapes'

const NO_MARKS = () => []

export const eventStripHeight = (rows: number) => eventsHeight(rows, SCREEN)

/** Rows of marks in line with the charts of their stack. */
export function EventStrip(box: Omit<EventBox, 'look'>) {
  const { width, rows, from, to } = box
  const height = eventStripHeight(rows.length)
  return (
    <>
      <Drawing {...{ width, height }} shapes={eventShapes({ ...box, look: SCREEN })} />
      <CursorLayer plot={plotOf(width, height, true)} from={from} to={to} valuesAt={NO_MARKS} top={1} />
    </>
  )
}
