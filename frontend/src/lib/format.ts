import { byteStep } from './units'

/** What stands in a cell when there is no value. Never zero. */
export const NO_VALUE = '–'

/** An estimate over runs as the report gives it; low and high are null when n is 1. */
export interface Estimate {
  mean: number | null
  low: number | null
  high: number | null
  n: number
}

/** Decimals that leave two or three significant digits: 0.0042, 0.42, 4.20, 42.0, 420. Less than a millionth is taken for zero. */
export function decimalsFor(magnitude: number): number {
  const size = Math.abs(magnitude)
  if (size === 0) return 0
  if (size < 0.00995 && size >= 1e-6) return Math.min(1 - Math.floor(Math.log10(size * 1.005)), 7)
  if (size < 0.0995) return 3
  if (size < 9.995) return 2
  return size < 99.95 ? 1 : 0
}

export function formatNumber(value: number | null | undefined, decimals?: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NO_VALUE
  return writtenOut(value, decimals ?? decimalsFor(value))
}

/** With commas between thousands and a true minus sign. By hand, since figures are also drawn where no tables of languages are. */
export function writtenOut(value: number, decimals: number): string {
  const [whole = '', fraction] = Math.abs(value).toFixed(decimals).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const text = fraction ? `${grouped}.${fraction}` : grouped
  return value < 0 ? `−${text}` : text
}

/** "83.1 (79.0–87.2)": a mean with its interval, scaled to the shown unit, with the decimals of the mean. */
export function formatEstimate(estimate: Estimate | null | undefined, factor = 1, decimals?: number): string {
  if (!estimate || estimate.mean === null) return NO_VALUE
  const { low, high } = estimate
  const mean = estimate.mean * factor
  const text = formatNumber(mean, decimals ?? decimalsFor(mean))
  if (low === null || high === null) return text
  // The ends of a wide interval may need other decimals than its mean.
  const end = (value: number) => formatNumber(value * factor, decimals ?? Math.min(decimalsFor(mean), decimalsFor(value * factor)))
  const dash = low < 0 ? ' to ' : '–'
  return `${text} (${end(low)}${dash}${end(high)})`
}

/** A signed difference: "+12.1", "−3.0", with a true minus sign. */
export function formatSigned(value: number | null | undefined, decimals?: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NO_VALUE
  const text = formatNumber(Math.abs(value), decimals ?? decimalsFor(value))
  if (Number(text.replaceAll(',', '')) === 0) return text
  return value > 0 ? `+${text}` : `−${text}`
}

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return NO_VALUE
  const { factor, unit } = byteStep(bytes)
  return `${formatNumber(bytes * factor, unit === 'B' ? 0 : undefined)} ${unit}`
}

export function formatRate(rate_bps: number | null | undefined): string {
  return rate_bps === null || rate_bps === undefined ? NO_VALUE : `${formatNumber(rate_bps * 1e-6)} Mb/s`
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${writtenOut(count, 0)} ${count === 1 ? one : many}`
}
