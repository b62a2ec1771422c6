import type { Scale } from './ticks'
import { roundStep } from './ticks'

/** A scale that holds all values and zero, with a little room at both ends. Without values it runs from 0 to 1. */
export function spanScale(values: readonly (number | null)[], count = 5): Scale {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value))
  const low = Math.min(0, ...known)
  const most = Math.max(0, ...known)
  const high = most > low ? most : 1
  const step = roundStep(high - low, count)
  const [first, last] = [low < 0 ? Math.floor(low / step - 0.2) : 0, high > 0 ? Math.ceil(high / step + 0.2) : 0]
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toFixed(decimals + 1)))
  return { min: ticks[0] ?? 0, max: ticks.at(-1) ?? 1, ticks, decimals }
}
