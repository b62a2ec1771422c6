import { expect, it } from 'vitest'
import { pixelOf, plotOf, xUnderPointer } from './plot'

const plot = plotOf(560, 160, true)

it.each([
  [plot.left, 0],
  [plot.left + plot.width, 35],
  [plot.left + plot.width / 2, 18],
  [plot.left - 1, null],
  [plot.left + plot.width + 1, null],
])('pointer at %s px is x %s', (px, x) => expect(xUnderPointer(px, plot, 0, 35)).toBe(x))

it('every bin maps to a pixel that maps back to it', () => {
  for (let x = 0; x <= 35; x += 1) expect(xUnderPointer(pixelOf(x, plot, 0, 35), plot, 0, 35)).toBe(x)
})

it('charts of one width have one plot area, with and without a time axis', () => {
  const { left, width } = plotOf(560, 100, false)
  expect([left, width]).toEqual([plot.left, plot.width])
})

it('names of stretches take their room above the plot, the lower edge stays', () => {
  const [bare, named] = [plotOf(560, 160, true), plotOf(560, 160, true, true)]
  expect(named.top).toBeGreaterThan(bare.top)
  expect(named.top + named.height).toBe(bare.top + bare.height)
})

it('a box too small for its axes has an empty plot, not a negative one', () => {
  expect(plotOf(10, 10, true)).toMatchObject({ width: 0, height: 0 })
})
