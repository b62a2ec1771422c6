import type { FlowExits, PacketPairs, Verdict } from '@/api/types'
import type { Window } from '@/charts/axes'
import type { Mark } from '@/charts/marks'
import { type DetectorLook, detectorLook, isShown } from '../detectors'

const US_PER_S = 1e6
export const seconds = (time_us: number) => time_us / US_PER_S

export interface Judged {
  look: DetectorLook
  verdict: Verdict
}

export function judgedOf(flow: FlowExits): Judged[] {
  return flow.verdicts.map((verdict) => ({ look: detectorLook(verdict), verdict }))
}

/** The detectors that the samples are too coarse for, by the sentence that says why. */
export function undecidable(judged: readonly Judged[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { look, verdict } of judged) {
    if (!verdict.is_decidable) found.set(verdict.reason, [...(found.get(verdict.reason) ?? []), look.name])
  }
  return found
}

/** The exits of the chosen detectors, and always the capacity point that they are judged by, with Kachooei 2023's own beside it. */
export function flowMarks(flow: FlowExits, chosen: readonly string[] | undefined): Mark[] {
  const exits = judgedOf(flow).flatMap(({ look, verdict }): Mark[] =>
    verdict.exit_us === null || !isShown(look.key, chosen)
      ? []
      : [{ id: look.key, x: seconds(verdict.exit_us), code: look.code, label: look.name, style: look.style, glyph: look.glyph }],
  )
  return [
    ...point('capacity', flow.capacity?.capacity_us, 'C', 'Capacity reached'),
    ...point('cg', flow.times?.cg_us, 'cg', 'cg of Kachooei 2023'),
    ...exits,
  ]
}

function point(id: string, at_us: number | null | undefined, code: string, label: string): Mark[] {
  return at_us == null ? [] : [{ id, x: seconds(at_us), code, label, style: 13, glyph: 'bar' }]
}

/** What is shaded: the sliding window that ended at SEARCH's exit, and the headroom between exit and first loss. */
export function flowWindows({ curves, times }: FlowExits): Window[] {
  if (!curves || times?.ex_us == null) return []
  const ex = seconds(times.ex_us)
  const window = { from: Math.max(0, ex - seconds(curves.window_us)), to: ex, label: 'window at ex' }
  return times.hr_us !== null && times.hr_us > 0 ? [window, { from: ex, to: ex + seconds(times.hr_us), label: 'hr' }] : [window]
}

export interface Span {
  from_s: number
  to_s: number
}

/** When the flow first lost something; null when it never did, or nobody counted. */
export function lossOf(flow: FlowExits): number | null {
  return flow.times?.dp_us ?? flow.verdicts.find(({ detector }) => detector === 'first_loss')?.exit_us ?? null
}

/** From the first data byte to a tenth past the last exit that came in time or the first loss, in tenths of a second; null without any. */
export function slowStartSpan(flow: FlowExits): Span | null {
  const dp_us = lossOf(flow)
  // A flow that left early may reach capacity half a minute later: that is not a part of its slow start.
  const capacity_us = flow.stayed_in_slow_start === false ? null : flow.capacity?.capacity_us
  const points_us = [capacity_us, flow.times?.cg_us, ...flow.verdicts.map(({ exit_us }) => exit_us)]
  const before_us = points_us.flatMap((at_us) => (at_us != null && (dp_us === null || at_us <= dp_us) ? at_us : []))
  const last_us = Math.max(0, dp_us ?? 0, ...before_us)
  return last_us > 0 ? { from_s: 0, to_s: Math.ceil(seconds(last_us) * 11 - 1e-9) / 10 } : null
}

/** What to ask for so that lines reach the edges of the plot: two bins more on either side. */
export function padded({ from_s, to_s }: Span, bin_us: number): Span {
  const pad_s = 2 * seconds(bin_us)
  return { from_s: Math.max(0, from_s - pad_s), to_s: to_s + pad_s }
}

/** The whole trace. */
export function wholeSpan(flow: FlowExits): Span {
  return { from_s: 0, to_s: Math.max(1, Math.ceil(seconds(flow.window?.time_us.at(-1) ?? 0))) }
}

/** A logarithmic axis: bunched ACKs give estimates that are many times the link's rate, and would press the others flat. */
export interface DecadeAxis {
  /** Exponents of ten at its ends. */
  first: number
  last: number
}

/** The packet pairs' common axis in Mb/s, in whole decades. */
export function pairAxis(rounds: readonly PacketPairs[]): DecadeAxis {
  const known = rounds.flatMap(({ estimates_mbps }) => estimates_mbps).filter((mbps) => mbps > 0)
  if (known.length === 0) return { first: 0, last: 1 }
  const [low, high] = known.reduce(([least, most], mbps) => [Math.min(least, mbps), Math.max(most, mbps)], [known[0] ?? 1, 1e-3])
  const first = Math.floor(Math.log10(low))
  return { first, last: Math.max(first + 1, Math.ceil(Math.log10(high))) }
}

/** Where a value lies between the axis' ends, from 0 to 1. */
export function decadeShare(value: number, { first, last }: DecadeAxis): number {
  return (Math.log10(value) - first) / (last - first)
}

/** Values per bin of equal width on the axis. Zeros have no place on it and are not counted. */
export function decadeCounts(values: readonly number[], axis: DecadeAxis, bins: number): number[] {
  const counts = Array.from({ length: bins }, () => 0)
  for (const value of values) {
    const bin = Math.min(bins - 1, Math.floor(decadeShare(value, axis) * bins))
    if (value > 0) counts[bin] = (counts[bin] ?? 0) + 1
  }
  return counts
}

/** The median as BEST takes it: the upper one of two. */
export function upperMedian(values: readonly number[]): number | null {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? null
}
