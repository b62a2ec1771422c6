import { expect, it } from 'vitest'
import { figureSvg } from '@/charts/figure'
import { stripFigure } from './figures'

it('the strip can be taken away, with every moment in its table', () => {
  const window = {
    from_us: 0,
    to_us: 30e6,
    at_us: 0,
    points: [25, null, 26].map((delay_ms, at) => ({ at_us: at * 10e6, delay_ms, hops: delay_ms === null ? 0 : 2 })),
    stays: [
      { from_us: 0, to_us: 10e6, hops: 2 },
      { from_us: 10e6, to_us: 15e6, hops: 0 },
      { from_us: 15e6, to_us: 30e6, hops: 2 },
    ],
    places: [],
  }
  const figure = stripFigure('london-new-york', '2000-01-01T00:00:00Z', window, { from_us: 0, to_us: 30e6 })
  expect(figure.file).toBe('path-london-new-york-delay')
  expect(figure.caption).toContain('2 changes of path; below the delay: each of them. Striped: no path.')
  expect(figure.table.rows.map(([, delay, hops]) => [delay, hops])).toEqual([
    [25, 2],
    [null, 0],
    [26, 2],
  ])
  expect(figureSvg(figure, { width: 'single' })).toContain('One-way delay (ms)')
})
