import type { Run } from '@/api/types'
import { formatRate } from '@/lib/format'
import { formatDuration, formatMoment, secondsBetween } from '@/lib/time'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'

/** Of an imported test whose file tells no start, nothing is known but when it was imported. */
function moments(run: Run): [string, string][] {
  if (run.import_source && !run.started_at) return [['Started', 'not in the file']]
  return [
    run.started_at ? ['Transfer began', formatMoment(run.started_at)] : ['Due', formatMoment(run.due_at)],
    ...(run.waits_for ? ([['Waits', run.waits_for]] as [string, string][]) : []),
    ['Ended', formatMoment(run.ended_at)],
  ]
}

/** Interfaces and first hops of its flows, where the agents reported them. */
function way({ way }: Run): [string, string][] {
  if (!way) return []
  return [
    ...(way.receiver ? ([['Receiver’s way', way.receiver]] as [string, string][]) : []),
    ...(way.sender ? ([['Sender’s way', way.sender]] as [string, string][]) : []),
    ...(way.addresses.length > 0 ? ([['Seen by the sender as', way.addresses.join(', ')]] as [string, string][]) : []),
  ]
}

export function TimesPanel({ run }: { run: Run }) {
  return (
    <Panel title="Summary">
      <Facts
        items={[
          ['Throughput, all flows', formatRate(run.throughput_bps)],
          ['Goodput, all flows', formatRate(run.goodput_bps)],
          ...moments(run),
          ['Took', formatDuration(secondsBetween(run.started_at, run.ended_at))],
          ...way(run),
        ]}
      />
    </Panel>
  )
}
