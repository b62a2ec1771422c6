/** An axis from zero (or `min`) to `max` with ticks at round numbers. */
export interface Scale {
  min: number
  max: number
  ticks: number[]
  decimals: number
}

const ROUND_STEPS = [1, 2, 2.5, 5, 10]
const TIME_STEPS_S = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]

/** The smallest round step that needs at most `count` intervals for `span`. */
export function roundStep(span: number, count: number): number {
  const raw = span / count
  const power = 10 ** Math.floor(Math.log10(raw))
  const factor = ROUND_STEPS.find((step) => step * power >= raw * (1 - 1e-9)) ?? 10
  return factor * power
}

/** The fewest decimals that write the step in full. */
function decimalsOf(step: number): number {
  const isWhole = (decimals: number) => Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) < 1e-6
  return [0, 1, 2, 3, 4, 5, 6, 7, 8].find(isWhole) ?? 9
}

/** A scale from zero, or from below where `min` is negative, that holds `max`. Without data (0, negative or not finite) it runs from 0 to 1. */
export function valueScale(max: number, count = 5, min = 0): Scale {
  const top = Number.isFinite(max) && max > 0 ? max : 1
  const step = roundStep(top - Math.min(0, min), count)
  const first = Math.min(0, Math.floor(min / step + 1e-9))
  const last = Math.ceil(top / step - 1e-9)
  const decimals = decimalsOf(step)
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toFixed(decimals)))
  return { min: ticks[0] ?? 0, max: ticks[ticks.length - 1] ?? 1, ticks, decimals }
}

/** Ticks within [from, to] at round numbers, fractions too. */
export function fineTicks(from: number, to: number, count = 8): number[] {
  const step = roundStep(to - from, count)
  const first = Math.ceil(from / step - 1e-9)
  const last = Math.floor(to / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toFixed(decimalsOf(step))))
}

/** From a little below the least value to a little above the greatest: where changes are small against zero. */
export function closeScale(values: readonly (number | null)[]): Scale {
  const known = values.filter((value) => value !== null)
  const [low, high] = known.length > 0 ? [Math.min(...known), Math.max(...known)] : [0, 1]
  const room = Math.max(0.1, (high - low) * 0.08)
  const [least, most] = [Math.max(0, low - room), high + room]
  const ticks = fineTicks(least, most, 5)
  const decimals = [0, 1, 2].find((count) => ticks.every((tick) => Number(tick.toFixed(count)) === tick)) ?? 3
  return { min: least, max: most, ticks, decimals }
}

/** Ticks at round times within [from, to], both in seconds; about `count` of them. */
export function timeTicks(from_s: number, to_s: number, count = 8): number[] {
  const span = Math.max(to_s - from_s, 1)
  const step = TIME_STEPS_S.find((candidate) => span / candidate <= count) ?? roundStep(span, count)
  const first = Math.ceil(from_s / step)
  const last = Math.floor(to_s / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}
