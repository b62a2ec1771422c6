import type { FlowExits } from '@/api/types'
import type { Level } from '@/charts/axis'
import type { Curve } from '@/charts/curves'
import { MB_PER_BYTE } from '@/lib/units'
import { seconds } from './exits'

/** One chart of the stack. */
export interface CurvePlot {
  title: string
  unit: string
  note?: string
  factor: number
  x: number[]
  curves: Curve[]
  levels?: Level[]
  reach?: readonly [number, number]
  height: number
}

type Column = (number | null)[] | null

function curve(label: string, style: number, y: Column): Curve[] {
  return y ? [{ id: label, label, style, y }] : []
}

/** After a loss little is sent, and the difference falls far below zero: nothing to learn there. */
const NORM_REACH = [-0.2, 1] as const

/** SEARCH's curves (Kachooei 2023, Figures 4 to 7); none where the trace does not allow them. */
function searchPlots({ curves }: FlowExits): CurvePlot[] {
  if (!curves) return []
  const x = curves.time_us.map(seconds)
  const percent = (ratio: number) => ratio.toFixed(2)
  return [
    {
      title: 'Sliding window',
      unit: 'MB',
      note: 'sent one RTT ago, delivered now',
      factor: MB_PER_BYTE,
      x,
      curves: [...curve('sent', 1, curves.sent_bytes), ...curve('delivered', 0, curves.delivered_bytes)],
      height: 190,
    },
    {
      title: 'Normalised difference',
      unit: '(sent − delivered) / sent',
      factor: 1,
      x,
      curves: [...curve('binned', 0, curves.norm_ratio), ...curve('best case', 1, curves.best_norm_ratio)],
      levels: [
        { value: curves.threshold_ratio, label: `ex ${percent(curves.threshold_ratio)}` },
        { value: curves.capacity_ratio, label: `cg ${percent(curves.capacity_ratio)}` },
      ],
      reach: NORM_REACH,
      height: 190,
    },
    {
      title: 'Error of the bins',
      unit: '|binned − best case|',
      factor: 1,
      x,
      curves: curve('error', 3, curves.error_ratio),
      // A larger error decides nothing more.
      reach: [0, curves.threshold_ratio],
      height: 110,
    },
  ]
}

/** What the sender saw: each quantity that the trace has. */
function senderPlots({ window }: FlowExits): CurvePlot[] {
  if (!window) return []
  const x = window.time_us.map(seconds)
  const sent = [...curve('sent', 1, window.new_sent_bytes), ...curve('acked', 0, window.acked_bytes)]
  const cwnd = [...curve('cwnd', 0, window.cwnd_segments), ...curve('ssthresh', 1, window.ssthresh_segments)]
  return [
    { title: 'Congestion window', unit: 'segments', factor: 1, x, curves: cwnd, height: 140 },
    { title: 'RTT', unit: 'ms', factor: 1e-3, x, curves: curve('RTT', 0, window.rtt_us), height: 120 },
    { title: 'Sent and acknowledged', unit: 'MB', note: 'since the start', factor: MB_PER_BYTE, x, curves: sent, height: 120 },
  ].filter(({ curves }) => curves.length > 0)
}

export function flowPlots(flow: FlowExits): CurvePlot[] {
  return [...searchPlots(flow), ...senderPlots(flow)]
}
