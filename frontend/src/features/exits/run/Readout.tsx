import { useCursor } from '@/charts/cursor'
import { valueAt } from '@/charts/curves'
import { Swatch } from '@/charts/Swatch'
import { formatNumber } from '@/lib/format'
import classes from './exits.module.css'
import type { CurvePlot } from './plots'

/** Legend and readout in one: every curve, with its value at the cursor. */
export function Readout({ plots }: { plots: CurvePlot[] }) {
  const x = useCursor()
  return (
    <div className={classes.readout}>
      <strong>{x === null ? 'Curves' : `At ${x} s`}</strong>
      {plots.map(({ title, unit, curves, x: axis, factor }) => (
        <span key={title}>
          {title}:{' '}
          {curves.map(({ id, label, style, y }) => {
            const value = x === null ? null : valueAt(axis, y, x)
            return (
              <span key={id} className={classes.reading}>
                <Swatch style={style} width={20} />
                {label === title ? null : label} {x === null ? null : <b>{formatNumber(value === null ? null : value * factor)}</b>}
              </span>
            )
          })}
          {x === null || unit.includes(' ') || unit.startsWith('|') ? null : <small>{unit}</small>}
        </span>
      ))}
    </div>
  )
}
