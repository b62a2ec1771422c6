import { describe, expect, it } from 'vitest'
import { BACKGROUND, SERIES_STYLES, seriesStyle } from './palette'

type Rgb = [number, number, number]

/** Linear-light sRGB. */
function linear(hex: string): Rgb {
  const part = (start: number) => {
    const value = Number.parseInt(hex.slice(start, start + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [part(1), part(3), part(5)]
}

/** WCAG 2.2 contrast ratio. */
function contrast(a: string, b: string): number {
  const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b
  const [dark, bright] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => x - y) as [number, number]
  return (bright + 0.05) / (dark + 0.05)
}

/** Machado, Oliveira and Fernandes (2009), severity 1, on linear light. */
const VISION: Record<string, [Rgb, Rgb, Rgb]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
}

/** CIE L*a*b* of linear sRGB under D65. */
function lab([r, g, b]: Rgb): Rgb {
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116)
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505)
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b)
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

function distance(a: string, b: string, vision: string): number {
  const see = (hex: string) => {
    const rgb = linear(hex)
    return lab((VISION[vision] ?? []).map((row) => row.reduce((sum, m, i) => sum + m * (rgb[i] ?? 0), 0)) as Rgb)
  }
  const [p, q] = [see(a), see(b)]
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])
}

describe.each(['light', 'dark'] as const)('in the %s scheme', (scheme) => {
  it.each(SERIES_STYLES.map((style) => style[scheme]))('%s stands out from the background by 3:1', (color) => {
    expect(contrast(color, BACKGROUND[scheme])).toBeGreaterThanOrEqual(3)
  })

  it.each(Object.keys(VISION))('the first four colours differ for %s vision', (vision) => {
    const first = SERIES_STYLES.slice(0, 4).map((style) => style[scheme])
    for (const [i, a] of first.entries())
      for (const b of first.slice(i + 1)) expect(distance(a, b, vision), `${a} and ${b}`).toBeGreaterThan(14)
  })
})

it('each of the eight styles has a dash of its own: on grey paper, too, lines differ', () => {
  expect(new Set(SERIES_STYLES.map(({ dash }) => dash)).size).toBe(SERIES_STYLES.length)
})

it('no two of 32 series share both colour and dash', () => {
  const seen = Array.from({ length: 32 }, (_, index) => JSON.stringify(seriesStyle(index)))
  expect(new Set(seen).size).toBe(32)
})
