import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import { BandChart } from './BandChart'
import type { BandSeries } from './bands'
import { bandShapes } from './chartShapes'
import { CursorProvider } from './cursor'
import { DayChart } from './DayChart'
import { dayShapes, mostOf } from './dayShapes'
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

test('a saved day strip has its runs where the page shows them', () => {
  const points = [3, 7.5, 2, 9].map((value, index) => ({ id: `${index}`, x: 1000 * index, value }))
  const lines = [{ id: 'on', label: 'on', style: 0, stretches: [points.slice(0, 3), points.slice(3)] }]
  const shared = { from: -100, to: 3100, factor: 8, nights: [{ from: 500, to: 900 }], notes: [], hasTimeAxis: true, areNotesNamed: false }
  const box = { ...shared, width: 640, height: 160, lines, most: mostOf(lines) }
  const { container } = render(<DayChart {...box} />)
  const shown = [...container.querySelectorAll('.recharts-scatter-symbol circle')].map((dot) => [
    dot.getAttribute('cx'),
    dot.getAttribute('cy'),
  ])
  const saved = flat(dayShapes({ ...box, look: SCREEN })).flatMap((shape) => (shape.is === 'dot' ? [[shape.x, shape.y]] : []))
  expect(shown).toHaveLength(4)
  for (const [index, place] of shown.entries())
    for (const [axis, at] of place.entries()) expect(Number(at)).toBeCloseTo(saved[index]?.[axis] ?? Number.NaN, 0)
})

const flat = (shapes: readonly Shape[]): Shape[] => shapes.flatMap((shape) => (shape.is === 'clip' ? flat(shape.shapes) : [shape]))
