import type { DetectorExits, ExitGroup, ShareEstimate } from '@/api/types'
import type { Curve } from '@/charts/curves'
import { distributions } from '@/charts/curves'
import { formatEstimate, formatNumber, NO_VALUE } from '@/lib/format'
import { type DetectorLook, detectorLook } from '../detectors'

/** One link's condition, with the flow where several compete. */
export function groupLabel(group: ExitGroup, all: readonly ExitGroup[]): string {
  const same = all.filter((one) => one.link === group.link && one.condition === group.condition)
  const parts = [group.link, group.condition]
  return (same.length > 1 ? [...parts, `flow ${group.flow}: ${group.cc ?? 'unknown'}`] : parts).join(' · ')
}

export interface LookedAt {
  look: DetectorLook
  exits: DetectorExits
}

/** The detectors of a group that could decide on at least one run. */
export function decidableOf(group: ExitGroup): LookedAt[] {
  return group.detectors.filter(({ decidable }) => decidable > 0).map((exits) => ({ look: detectorLook(exits), exits }))
}

/** Cumulative exit times in percent of the decidable runs, over a common x. */
export function exitDistributions(shown: readonly LookedAt[]): { x: number[]; curves: Curve[]; to: number } {
  const last = Math.max(0, ...shown.flatMap(({ exits }) => exits.exits_s.at(-1) ?? 0))
  const to = Math.max(1, Math.ceil(last * 1.1))
  const { x, y } = distributions(
    shown.map(({ exits }) => ({ sorted: exits.exits_s, total: exits.decidable })),
    to,
  )
  return { x, to, curves: shown.map(({ look }, place) => ({ id: look.key, label: look.name, style: look.style, y: y[place] ?? [] })) }
}

/** "8.20 (7.80–8.60) s": mean and its interval. */
export function timeText(time: ShareEstimate | null): string {
  return time === null ? NO_VALUE : `${formatEstimate({ mean: time.value, low: time.low, high: time.high, n: time.n })} s`
}

/** In the order of the bar. */
export const TIMINGS = ['early', 'good', 'late', 'open'] as const

export const PERCENT = 100

/** "67 % (21–94)": a share with its interval, out of percent or, with PERCENT for `factor`, out of a ratio. */
export function shareText({ value, low, high }: ShareEstimate, factor = 1): string {
  const whole = (part: number) => formatNumber(part * factor, 0)
  const interval = low === null || high === null ? '' : ` (${whole(low)}–${whole(high)})`
  return `${whole(value)} %${interval}`
}

const BASES = [
  ['link_log', 'the log of the emulated link'],
  ['emulated_rate', "the link's emulated rate x least RTT in flight"],
  ['nominal_rate', "the link's nominal rate x least RTT in flight"],
  ['plateau', '90 % of the delivery plateau'],
] as const

/** "Capacity by …: 5 runs." What the capacity points of a group were judged by. */
export function basesText(bases: ExitGroup['bases']): string {
  const parts = BASES.flatMap(([basis, says]) => {
    const runs = bases[basis]
    return runs ? `${says}: ${runs} ${runs === 1 ? 'run' : 'runs'}` : []
  })
  return parts.length > 0 ? `Capacity by ${parts.join('; ')}.` : ''
}
