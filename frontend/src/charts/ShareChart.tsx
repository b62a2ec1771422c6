import { CursorLayer } from './CursorLayer'
import { Drawing } from './Drawing'
import { plotOf, SCREEN } from './plot'
import { type ShareBox, shareShapes } from './timeShapes'

const NO_MARKS = () => []

/** What each second was made of: ratios stacked to 100 %, with the cursor of its stack. */
export function ShareChart(box: Omit<ShareBox, 'look'>) {
  const { width, height, from, to } = box
  return (
    <>
      <Drawing {...{ width, height }} shapes={shareShapes({ ...box, look: SCREEN })} />
      <CursorLayer plot={plotOf(width, height, true)} from={from} to={to} valuesAt={NO_MARKS} top={1} />
    </>
  )
}
