import { describe, expect, it } from 'vitest'
import type { BandSeries } from './bands'
import { bandShapes, curveShapes } from './chartShapes'
import { PAPER, plotOf, SCREEN } from './plot'
import { moved, type PathShape, polyline, type Role, ribbon, type Shape } from './scene'

const series: BandSeries = {
  id: 'a',
  label: 'A',
  style: 0,
  x: [0, 1, 2, 4],
  band: { mean: [10, 20, 30, 40], low: [8, 18, 28, null], high: [12, 22, 32, null], n: [5, 5, 5, 1] },
}
const box = { series: [series], from: 0, to: 4, hasBands: true, factor: 0.1, width: 300, height: 150, look: SCREEN, hasTimeAxis: true }

const flat = (shapes: readonly Shape[]): Shape[] => shapes.flatMap((shape) => (shape.is === 'clip' ? flat(shape.shapes) : [shape]))
const paths = (shapes: readonly Shape[], role: Role) =>
  flat(shapes).filter((shape): shape is PathShape => shape.is === 'path' && shape.role === role)
const texts = (shapes: readonly Shape[]) => flat(shapes).flatMap((shape) => (shape.is === 'text' ? shape.text : []))

describe('a band chart', () => {
  it('draws each value at its place in the shown unit', () => {
    const plot = plotOf(box.width, box.height, true)
    const [mean] = paths(bandShapes(box), 'mean')
    // The axis ends at 4, the mean of the last bin in the shown unit: its pixel is the upper right corner of the plot.
    expect(mean?.d.startsWith(`M${plot.left} `)).toBe(true)
    expect(mean?.d.includes(`M${plot.left + plot.width} ${plot.top}`)).toBe(true)
  })

  it('breaks lines and bands where a bin is absent, and marks a value that stands alone', () => {
    const shapes = bandShapes(box)
    expect(paths(shapes, 'mean')[0]?.d.match(/M/g)).toHaveLength(2)
    expect(paths(shapes, 'band')[0]?.d.match(/Z/g)).toHaveLength(1)
    expect(flat(shapes).filter(({ is }) => is === 'dot')).toHaveLength(1)
  })

  it('joins values at uneven steps, such as sizes of objects', () => {
    const shapes = bandShapes({ ...box, series: [{ ...series, isUneven: true }] })
    expect(paths(shapes, 'mean')[0]?.d.match(/M/g)).toHaveLength(1)
    expect(flat(shapes).filter(({ is }) => is === 'dot')).toHaveLength(0)
  })

  it('draws the single runs instead of a band where they are few', () => {
    const few = {
      ...series,
      band: {
        ...series.band,
        runs: [
          [9, 19, 29, 39],
          [11, 21, null, 41],
        ],
      },
    }
    const shapes = bandShapes({ ...box, series: [few] })
    expect([paths(shapes, 'run').length, paths(shapes, 'band').length]).toEqual([2, 0])
    expect(paths(bandShapes({ ...box, series: [few], hasBands: false }), 'run')).toEqual([])
  })

  it('has the axis of all the charts beside it', () => {
    const high = { ...series, id: 'b', band: { ...series.band, mean: [100, 200, 300, 400], high: [100, 200, 300, 400] } }
    const ticks = (shapes: readonly Shape[]) => texts(shapes)
    expect(ticks(bandShapes({ ...box, beside: [series, high] }))).toEqual(
      ticks(bandShapes({ ...box, series: [high], beside: [series, high] })),
    )
  })

  it('writes with 8 points on paper', () => {
    const sizes = flat(bandShapes({ ...box, look: PAPER })).flatMap((shape) => (shape.is === 'text' ? shape.size : []))
    expect(new Set(sizes)).toEqual(new Set([8]))
  })
})

it('a curve chart steps from point to point and breaks at what is missing', () => {
  const curves = [{ id: 'c', label: 'C', style: 0, y: [1, 2, null, 4] }]
  const shapes = curveShapes({ ...box, x: [0, 1, 2, 3], curves, factor: 1, isStepped: true, levels: [{ value: 5, label: 'top' }] })
  expect(paths(shapes, 'mean')[0]?.d).toMatch(/^M[\d. ]+H[\d.]+V[\d.]+M[\d. ]+$/)
  expect(texts(shapes)).toContain('top')
})

it('a line has a piece for each stretch, a ribbon an outline', () => {
  expect(polyline([[0, 0], [1, 1], null, [3, 3]])).toBe('M0 0L1 1M3 3')
  expect(ribbon([[0, 1, 2], [1, 1, 3], null, [3, 0, 1]])).toBe('M0 2L1 3L1 1L0 1Z')
})

it('shapes move with all their commands', () => {
  const [path] = moved([{ is: 'path', d: 'M1 2H5V6L7 8h1v1z' }], 10, 100)
  expect((path as PathShape).d).toBe('M11 102H15V106L17 108h1v1z')
})
