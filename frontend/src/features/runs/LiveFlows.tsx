import type { RunSummary } from '@/api/types'
import { formatBytes, formatNumber, formatRate } from '@/lib/format'
import classes from './runs.module.css'

type Flows = NonNullable<RunSummary['live']>['flows']

/** What the senders' kernels say of the running flows, a second old at most. Nothing where an older agent does not tell it. */
export function LiveFlows({ flows = [] }: { flows: Flows }) {
  if (flows.length === 0) return null
  return (
    <ul className={classes.liveFlows} aria-label="Flows now">
      {flows.map((flow) => (
        <li key={flow.flow}>
          <span>Flow {flow.flow}</span>
          <span>{flow.throughput_bps === null ? 'rate follows' : formatRate(flow.throughput_bps)}</span>
          <span>RTT {formatNumber(flow.rtt_ms, 0)} ms</span>
          <span>window {formatBytes(flow.cwnd_bytes)}</span>
        </li>
      ))}
    </ul>
  )
}
