import { Text } from '@mantine/core'
import { useState } from 'react'
import type { RunSummary } from '@/api/types'
import { Swatch } from '@/charts/Swatch'
import { formatBytes, formatNumber, formatRate } from '@/lib/format'
import { LazyPart } from '@/ui/LazyPart'
import { useNow } from '@/ui/useNow'
import { useLiveHistory } from './liveHistory'
import classes from './runs.module.css'

type Live = NonNullable<RunSummary['live']>
type LiveFlow = NonNullable<Live['flows']>[number]

const loadChart = () => import('./LiveChart').then(({ LiveChart }) => LiveChart)

/** Senders speak once a second. After so long without a word a reader should know that numbers are old. */
const SILENT_AFTER_S = 5

/**
 * What the senders' kernels say of the running flows, a second old at most; nothing of flows where an older agent does not say it.
 * controls: flow to its congestion control.
 */
export function LiveFlows({ live, controls = {} }: { live: Live; controls?: Record<number, string> }) {
  const history = useLiveHistory(live)
  const silent_s = useSilence(`${live.elapsed_s} ${live.bytes}`)
  return (
    <>
      {live.flows && live.flows.length > 0 ? (
        <ul className={classes.liveFlows} aria-label="Flows now">
          {live.flows.map((flow) => (
            <li key={flow.flow}>
              <span>
                <Swatch style={flow.flow - 1} width={18} /> {[`Flow ${flow.flow}`, controls[flow.flow]].filter(Boolean).join(' · ')}
              </span>
              {flow.has_ended ? (
                <span className={classes.gone}>ended by {formatNumber(flow.elapsed_s, 0)} s</span>
              ) : isSilent(live, flow) ? (
                <span className={classes.gone}>its sender was heard last at {formatNumber(flow.heard_s, 0)} s</span>
              ) : (
                <>
                  <span>{flow.throughput_bps === null ? 'rate follows' : formatRate(flow.throughput_bps)}</span>
                  <span>RTT {formatNumber(flow.rtt_ms, flow.rtt_ms < 10 ? 1 : 0)} ms</span>
                  <span>cwnd {formatBytes(flow.cwnd_bytes)}</span>
                </>
              )}
            </li>
          ))}
        </ul>
      ) : null}
      {Object.values(history).some((points) => points.length > 1) ? <LazyPart load={loadChart} props={{ history }} waiting={null} /> : null}
      {silent_s > SILENT_AFTER_S ? (
        <Text size="sm" className={classes.silent}>
          No update for {Math.floor(silent_s)} s. Showing the last values received.
        </Text>
      ) : null}
    </>
  )
}

/** Whether others spoke of the run for a while, and the flow's own sender did not. */
const isSilent = (live: Live, { heard_s }: LiveFlow) => heard_s != null && live.elapsed_s - heard_s > SILENT_AFTER_S

/** Seconds since `word` was another one, as this page saw it: clocks of browser and server may differ. */
function useSilence(word: string): number {
  const now_ms = useNow(1000)
  const [heard, setHeard] = useState({ word, at_ms: now_ms })
  if (heard.word !== word) setHeard({ word, at_ms: now_ms })
  return Math.max(0, now_ms - heard.at_ms) / 1000
}
