import type { Run } from '@/api/types'
import { formatInstant } from '@/lib/time'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { StateBadge } from '@/ui/StateBadge'
import classes from './runs.module.css'

/** A run is running from the moment at which its start is agreed, a few seconds before the first dial. */
function whenItBegins({ started_at, import_source, events }: Run): string | undefined {
  const isMeasured = started_at !== null && import_source === null && events.length > 0
  return isMeasured ? `Data transfer started at ${formatInstant(started_at)} (agreed start time).` : undefined
}

/** What happened to the run, in order. */
export function EventsTab({ run }: { run: Run }) {
  return (
    <Panel title="Events" description={whenItBegins(run)} isFlush>
      {run.events.length === 0 ? (
        <Empty title="Nothing has happened yet">The run is planned; it is leased when its link and hosts are free.</Empty>
      ) : (
        <ol className={classes.events}>
          {run.events.map((event, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: events are only added at the end, and two may be alike
            <li key={index}>
              <span>{formatInstant(event.at)}</span>
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
