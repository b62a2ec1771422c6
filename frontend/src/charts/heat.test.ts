import { expect, it } from 'vitest'
import { HEAT_STEPS, heatColor, heatStep } from './heat'
import { BACKGROUND } from './palette'

const parts = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = parts(hex).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: string, b: string) => {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((p, q) => p - q)
  return (high + 0.05) / (low + 0.05)
}
const STEPS = [...Array(HEAT_STEPS).keys()]

it.each([
  ['light', 'cool'],
  ['light', 'warm'],
  ['dark', 'cool'],
  ['dark', 'warm'],
] as const)('on a %s page every number on the %s scale can be read, and each step stands out more than the one before', (scheme, hue) => {
  const colors = STEPS.map((step) => heatColor(step, scheme, hue))
  for (const { fill, text } of colors) expect(contrast(fill, text)).toBeGreaterThan(4.5)
  const distance = colors.map(({ fill }) => contrast(fill, BACKGROUND[scheme]))
  expect([...distance].sort((a, b) => a - b)).toEqual(distance)
  expect(new Set(distance).size).toBe(HEAT_STEPS)
})

it.each([
  [0, 0],
  [11, 0],
  [12, 1],
  [50, 4],
  [100, 8],
  [140, 8],
  [-3, 0],
])('%d %% takes step %d of nine', (value, step) => expect(heatStep(value, 0, 100)).toBe(step))

it('a scale without width is its lowest step', () => expect(heatStep(3, 3, 3)).toBe(0))
