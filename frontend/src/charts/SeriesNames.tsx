import classes from './charts.module.css'
import { Swatch } from './Swatch'

interface SeriesNamesProps {
  series: readonly { id: string; label: string; style: number }[]
  /** Which series the pointer or the focus rests on, or null. */
  onPick: (id: string | null) => void
}

/** The names of a chart's series; one stands out while the pointer or the focus rests on its name. */
export function SeriesNames({ series, onPick }: SeriesNamesProps) {
  return (
    <ul className={classes.names} aria-label="Series">
      {series.map(({ id, label, style }) => (
        <li key={id}>
          <button
            type="button"
            onPointerEnter={() => onPick(id)}
            onPointerLeave={() => onPick(null)}
            onFocus={() => onPick(id)}
            onBlur={() => onPick(null)}
          >
            <Swatch style={style} /> {label}
          </button>
        </li>
      ))}
    </ul>
  )
}
