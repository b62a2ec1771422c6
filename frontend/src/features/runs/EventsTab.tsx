import type { Run } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { StateBadge } from '@/ui/StateBadge'
import classes from './runs.module.css'

/** What happened to the run, in order. */
export function EventsTab({ run }: { run: Run }) {
  return (
    <Panel title="Events" isFlush>
      {run.events.length === 0 ? (
        <Empty title="Nothing has happened yet">The run is planned; it is leased when its link and hosts are free.</Empty>
      ) : (
        <ol className={classes.events}>
          {run.events.map((event) => (
            <li key={`${event.at} ${event.kind}`}>
              <span>{formatMoment(event.at)}</span>
              <span>
                <StateBadge state={event.kind} />
              </span>
              <span>{event.detail}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}
