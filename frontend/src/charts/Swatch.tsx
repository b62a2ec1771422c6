import classes from './charts.module.css'
import { seriesStyle } from './palette'

/** A series' line as the charts draw it. */
export function Swatch({ style, width = 26 }: { style: number; width?: number }) {
  const { color, dash } = seriesStyle(style)
  return (
    <svg width={width} height={10} className={classes.swatch} aria-hidden="true">
      <rect width={width} height={10} rx={2} fill={color} opacity={0.18} />
      <line x1={0} x2={width} y1={5} y2={5} stroke={color} strokeWidth={2.2} strokeDasharray={dash} />
    </svg>
  )
}
