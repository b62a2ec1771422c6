/** Sequential scales in one hue: light to dark on a light page, dark to light on a dark one, so that they need no colour vision. The
 * warm one is for values below 0, whose sign stands in the cell. */
const ENDS = {
  cool: { light: { low: [238, 244, 249], high: [0, 72, 122] }, dark: { low: [32, 46, 60], high: [150, 212, 255] } },
  warm: { light: { low: [251, 241, 236], high: [133, 36, 8] }, dark: { low: [60, 40, 34], high: [255, 187, 163] } },
} as const
type Hue = keyof typeof ENDS

export const HEAT_STEPS = 9

/** Which step of the scale a value takes between `low` and `high`. */
export function heatStep(value: number, low: number, high: number): number {
  const share = high > low ? (value - low) / (high - low) : 0
  return Math.min(HEAT_STEPS - 1, Math.max(0, Math.floor(share * HEAT_STEPS)))
}

/** Relative luminance (WCAG 2.2) of an sRGB colour with parts from 0 to 255. */
function luminance(color: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = color.map((part) => (part <= 10.31475 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const hex = (color: readonly number[]) => `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** One step's colour, and black or white upon it: the one with more contrast, which is always above 4.5:1. */
export function heatColor(step: number, scheme: 'light' | 'dark', hue: Hue = 'cool'): { fill: string; text: string } {
  const { low, high } = ENDS[hue][scheme]
  const color = low.map((part, i) => Math.round(part + (((high[i] ?? part) - part) * step) / (HEAT_STEPS - 1)))
  return { fill: hex(color), text: luminance(color) > 0.179 ? '#000000' : '#ffffff' }
}

/** CSS variables `--heat-0`, `--heat-text-0`, `--heat-warm-0` … for one colour scheme. */
export function heatVariables(scheme: 'light' | 'dark'): Record<string, string> {
  const steps = Array.from({ length: HEAT_STEPS }, (_, step) => step)
  const hues = [
    ['cool', ''],
    ['warm', 'warm-'],
  ] as const
  return Object.fromEntries(
    hues.flatMap(([hue, prefix]) =>
      steps.flatMap((step) => {
        const { fill, text } = heatColor(step, scheme, hue)
        return [
          [`--heat-${prefix}${step}`, fill],
          [`--heat-text-${prefix}${step}`, text],
        ]
      }),
    ),
  )
}

/** The colours of a value's cell by their names. */
export function heatPaint(value: number, scale: { low: number; high: number; isSigned?: boolean | undefined }) {
  const hue = scale.isSigned && value < 0 ? 'warm-' : ''
  const step = `${hue}${heatStep(scale.isSigned ? Math.abs(value) : value, scale.low, scale.high)}`
  return { fill: `heat-${step}`, ink: `heat-text-${step}` } as const
}
