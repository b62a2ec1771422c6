import { useState } from 'react'
import type { RunSummary } from '@/api/types'

type Live = NonNullable<RunSummary['live']>
type LiveFlow = NonNullable<Live['flows']>[number]

/** What is kept of a run under way: the last minutes, of which a message comes each second. */
export const KEPT_S = 180

/** A flow's numbers as they were said, the newest last; at_s is on the flow's own clock. */
export interface LivePoint {
  at_s: number
  throughput_bps: number | null
  rtt_ms: number
  cwnd_bytes: number
}
export type LiveHistory = Readonly<Record<number, readonly LivePoint[]>>

/** The history with what is said now. A flow whose clock went back has started again. */
export function withNow(history: LiveHistory, flows: readonly LiveFlow[]): LiveHistory {
  return Object.fromEntries(flows.map((flow) => [flow.flow, grown(history[flow.flow] ?? [], flow)]))
}

function grown(points: readonly LivePoint[], { elapsed_s, throughput_bps, rtt_ms, cwnd_bytes, has_ended }: LiveFlow): readonly LivePoint[] {
  const last = points.at(-1)?.at_s
  if (last === elapsed_s || (has_ended && last !== undefined)) return points
  const kept = last !== undefined && elapsed_s < last ? [] : points.filter(({ at_s }) => at_s > elapsed_s - KEPT_S)
  return [...kept, { at_s: elapsed_s, throughput_bps, rtt_ms, cwnd_bytes }]
}

/** The last minutes of a run's flows, as far as this page has heard of them. */
export function useLiveHistory({ elapsed_s, bytes, flows }: Live): LiveHistory {
  const word = `${elapsed_s} ${bytes}`
  const [heard, setHeard] = useState<{ word: string; history: LiveHistory }>({ word: '', history: {} })
  if (heard.word === word) return heard.history
  const history = withNow(heard.history, flows ?? [])
  setHeard({ word, history })
  return history
}
