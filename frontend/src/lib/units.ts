/** Factors from the API's base units to the units that pages show. MB is 10^6 bytes, Mb/s is 10^6 bits per second. */
export const MBPS_PER_BPS = 1e-6
export const MB_PER_BYTE = 1e-6
export const KB_PER_BYTE = 1e-3

const BYTE_STEPS = [
  { limit: 1e3, factor: 1, unit: 'B' },
  { limit: 1e6, factor: 1e-3, unit: 'kB' },
  { limit: 1e9, factor: 1e-6, unit: 'MB' },
  { limit: 1e12, factor: 1e-9, unit: 'GB' },
  { limit: Number.POSITIVE_INFINITY, factor: 1e-12, unit: 'TB' },
] as const

/** The decimal byte unit in which the value is below 1,000 after rounding. */
export function byteStep(bytes: number): { factor: number; unit: string } {
  return BYTE_STEPS.find((step) => Math.abs(bytes) < step.limit * 0.9995) ?? BYTE_STEPS[4]
}
