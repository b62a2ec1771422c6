import type { PlannedRun } from '@/api/types'
import { seriesStyle } from '@/charts/palette'
import { formatDuration } from '@/lib/time'
import classes from './plan.module.css'
import { placeRuns } from './timeline'

/** When each link is held, by condition. */
export function PlanTimeline({ runs, conditions }: { runs: PlannedRun[]; conditions: string[] }) {
  const { lanes, from_s, span_s } = placeRuns(runs)
  const colorOf = (condition: string) => seriesStyle(Math.max(0, conditions.indexOf(condition))).color
  return (
    <div className={classes.timeline}>
      {lanes.map((lane) => (
        <div key={lane.link}>
          {lanes.length > 1 ? <div className={classes.axis}>{lane.link}</div> : null}
          <ol aria-label={`Planned runs on ${lane.link}`}>
            {lane.runs.map(({ run, left_percent, width_percent }) => (
              <li
                key={`${run.cycle} ${run.position} ${run.due_s}`}
                title={`${run.condition}, cycle ${run.cycle}, after ${formatDuration(run.due_s)}`}
                style={{ left: `${left_percent}%`, width: `${width_percent}%`, background: colorOf(run.condition) }}
              />
            ))}
          </ol>
        </div>
      ))}
      <div className={classes.axis}>
        <span>{from_s > 0 ? formatDuration(from_s) : 'launch'}</span>
        <span>{formatDuration(from_s + span_s / 2)}</span>
        <span>{formatDuration(from_s + span_s)}</span>
      </div>
      <div className={classes.key}>
        {conditions.map((condition) => (
          <span key={condition}>
            <span className={classes.keySwatch} style={{ background: colorOf(condition) }} aria-hidden="true" />
            {condition}
          </span>
        ))}
      </div>
    </div>
  )
}
