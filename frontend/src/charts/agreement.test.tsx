import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import { BandChart } from './BandChart'
import type { BandSeries } from './bands'
import { bandShapes } from './chartShapes'
import { CursorProvider } from './cursor'
import { SCREEN } from './plot'
import type { PathShape, Shape } from './scene'

const numbersOf = (d: string) => [...d.matchAll(/-?\d+(?:\.\d+)?/g)].map(([number]) => Number(number))
const pathsOf = (shapes: readonly Shape[], role: string): PathShape[] =>
  shapes.flatMap((shape) => (shape.is === 'clip' ? pathsOf(shape.shapes, role) : shape.is === 'path' && shape.role === role ? [shape] : []))

const mean = [3, 7.5, null, 2, 9, 12.25]
const series: BandSeries[] = [
  { id: 'on', label: 'on', style: 0, x: [0, 1, 2, 3, 4, 5], band: { mean, low: mean, high: mean, n: mean.map(() => 5) } },
  { id: 'off', label: 'off', style: 1, x: [1, 2, 5], band: { mean: [1, 4, 2], low: [0, 3, 1], high: [2, 5, 3], n: [5, 5, 5] } },
]

test('a saved figure has the lines that the page shows, point by point', () => {
  const box = { width: 640, height: 160, series, factor: 8, from: 0, to: 5, hasBands: false, hasTimeAxis: true }
  const { container } = render(
    <CursorProvider>
      <BandChart {...box} />
    </CursorProvider>,
  )
  const shown = [...container.querySelectorAll('.recharts-line-curve')].map((path) => numbersOf(path.getAttribute('d') ?? ''))
  const saved = pathsOf(bandShapes({ ...box, look: SCREEN }), 'mean').map(({ d }) => numbersOf(d))
  expect(shown).toHaveLength(2)
  expect(shown[0]?.length).toBe(10)
  for (const [index, points] of shown.entries()) {
    expect(points).toHaveLength(saved[index]?.length ?? 0)
    for (const [at, value] of points.entries()) expect(value).toBeCloseTo(saved[index]?.[at] ?? Number.NaN, 0)
  }
})
