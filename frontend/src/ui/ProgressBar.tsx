import type { Tone } from '@/lib/states'
import classes from './ui.module.css'

export interface Segment {
  tone: Tone
  count: number
}

interface ProgressBarProps {
  label: string
  total: number
  segments: readonly Segment[]
}

/** How far along, by outcome. */
export function ProgressBar({ label, total, segments }: ProgressBarProps) {
  const done = Math.min(
    total,
    segments.reduce((sum, one) => sum + one.count, 0),
  )
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.max(1, total)}
      aria-valuenow={done}
      className={classes.progress}
    >
      {segments
        .filter((one) => one.count > 0)
        .map((one) => (
          <span
            key={one.tone}
            data-tone={one.tone}
            style={{ width: `${(100 * one.count) / Math.max(1, total)}%` }}
            className={classes.progressPart}
          />
        ))}
    </div>
  )
}
