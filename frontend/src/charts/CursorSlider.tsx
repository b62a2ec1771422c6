import classes from './charts.module.css'
import { useCursor, useCursorStore } from './cursor'
import { MARGIN, VALUE_AXIS_WIDTH } from './plot'

/** The shared cursor by keyboard and touch, aligned with the plots. */
export function CursorSlider({ from, to, unit, step = 1 }: { from: number; to: number; unit: string; step?: number }) {
  const store = useCursorStore()
  const x = useCursor()
  const first = Math.ceil(from / step) * step
  return (
    <div className={classes.slider} style={{ paddingLeft: VALUE_AXIS_WIDTH - 8, paddingRight: MARGIN.right - 8 }}>
      <input
        type="range"
        min={first}
        max={Math.floor(to / step) * step}
        step={step}
        value={x ?? first}
        data-idle={x === null || undefined}
        aria-label="Cursor"
        aria-valuetext={x === null ? 'off' : `${x} ${unit}`}
        onChange={(event) => store.set(Number(event.currentTarget.value))}
      />
    </div>
  )
}
