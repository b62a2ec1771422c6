import { describe, expect, it } from 'vitest'
import type { BandSeries } from './bands'
import { type Figure, figureCsv, figureScene, figureSvg, POINTS_PER_MM } from './figure'
import { bandPanel, bandTable, curveTable, forestPanel, heatPanel, heatTable } from './panels'
import type { Shape } from './scene'
import { csvText } from './table'
import { textWidth, wrapped } from './textWidth'

const make = (label: string, style: number, mean: (number | null)[], runs?: (number | null)[][]): BandSeries => ({
  id: label,
  label,
  style,
  x: [0, 1],
  band: { mean, low: mean.map((value) => value && value * 0.9), high: mean.map((value) => value && value * 1.1), n: [4, 3], runs },
})
const series = [make('Cubic', 0, [10e6, 20e6]), make('=BBR, "two"', 1, [30e6, null])]
const column = { title: 'Throughput', unit: 'Mb/s', factor: 1e-6, series, hasBands: true }
const grid = {
  title: 'Throughput difference, Mb/s',
  xName: 'Phase',
  xs: ['Start-up', 'Steady state'],
  yName: 'Condition',
  ys: ['Cubic against BBR'],
  cells: [[{ value: -2e6, text: '−2.0', detail: '' }, null]],
  low: 0,
  high: 2e6,
  isSigned: true,
}
const figure: Figure = {
  file: 'throughput',
  title: 'Throughput',
  columns: [
    { panels: [bandPanel(column, { ...column, from: 0, to: 1, hasTimeAxis: true })] },
    {
      panels: [
        heatPanel(grid),
        forestPanel(column, [{ label: 'a − b', style: 1, mean: 1, low: 0.5, high: 1.5, bootstrap_low: null, bootstrap_high: null }]),
      ],
    },
  ],
  legend: series.map(({ label, style }) => ({ label, style })),
  xTitle: 'Seconds',
  caption: 'Mean over runs with its 95 % confidence interval. n = 4 runs of each. Link geo.',
  table: bandTable('Time (s)', [column], 0, 1),
}

const flat = (shapes: readonly Shape[]): Shape[] => shapes.flatMap((shape) => (shape.is === 'clip' ? flat(shape.shapes) : [shape]))

describe('a figure', () => {
  it.each([
    ['single', 89],
    ['double', 183],
  ] as const)('of a %s column is %s mm wide and keeps all words inside, none smaller than 8 points', (width, wide_mm) => {
    const scene = figureScene(figure, { width })
    expect(scene.width / POINTS_PER_MM).toBeCloseTo(wide_mm)
    expect(figureSvg(figure, { width })).toContain(`width="${wide_mm}mm"`)
    const words = flat(scene.shapes).flatMap((shape) => (shape.is === 'text' ? [shape] : []))
    expect(Math.min(...words.map(({ size }) => size))).toBe(8)
    for (const { x, y, text, size, anchor, isBold } of words) {
      const wide = textWidth(text, size, isBold)
      const left = anchor === 'middle' ? x - wide / 2 : anchor === 'end' ? x - wide : x
      expect([text, left >= 0, left + wide <= scene.width, y <= scene.height]).toEqual([text, true, true, true])
    }
  })

  it('is light, whatever the theme of the page', () => {
    const svg = figureSvg(figure, { width: 'single' })
    expect(svg).not.toContain('var(')
    expect(svg).toContain('#0068a8')
    expect(svg).toContain('<rect width="100%" height="100%" fill="#ffffff"/>')
  })

  it('has its caption, unless asked otherwise, and always says it to those who cannot see it', () => {
    const [captioned, bare] = [figureScene(figure, { width: 'double' }), figureScene(figure, { width: 'double', hasCaption: false })]
    expect(captioned.height).toBeGreaterThan(bare.height)
    expect(figureSvg(figure, { width: 'double', hasCaption: false })).toContain('<desc>Mean over runs')
  })
})

describe('the numbers of a figure', () => {
  it('are those that are drawn, with their units, and nothing where there is nothing', () => {
    expect(figureCsv(figure)).toBe(
      'Series,Time (s),Throughput (Mb/s),Throughput low (Mb/s),Throughput high (Mb/s),Throughput n\r\n' +
        'Cubic,0,10,9,11,4\r\nCubic,1,20,18,22,3\r\n' +
        '"\'=BBR, ""two""",0,30,27,33,4\r\n"\'=BBR, ""two""",1,,,,3\r\n',
    )
  })

  it('are the means alone where no interval is drawn, and the runs where these are', () => {
    expect(bandTable('Time (s)', [{ ...column, hasBands: false }], 0, 0).heads).toEqual([
      'Series',
      'Time (s)',
      'Throughput (Mb/s)',
      'Throughput n',
    ])
    const few = [
      make(
        'Cubic',
        0,
        [10e6, 20e6],
        [
          [9e6, null],
          [11e6, 20e6],
        ],
      ),
    ]
    const table = bandTable('Time (s)', [{ ...column, series: few }], 0, 1)
    expect(table.heads.slice(2)).toEqual(['Throughput (Mb/s)', 'Throughput run 1 (Mb/s)', 'Throughput run 2 (Mb/s)', 'Throughput n'])
    expect(table.rows.map((row) => row.slice(2))).toEqual([
      [10, 9, 11, 4],
      [20, null, 20, 3],
    ])
  })

  it('of curves with an x of their own stand in one table', () => {
    const table = curveTable(
      'Time (s)',
      [
        { unit: 'MB', factor: 1e-6, x: [0, 1], curves: [{ id: 'a', label: 'sent', style: 0, y: [1e6, null] }] },
        { unit: 'ms', factor: 1, x: [0.5], curves: [{ id: 'b', label: 'RTT', style: 0, y: [600] }] },
      ],
      0,
      1,
    )
    expect(csvText(table)).toBe('Time (s),sent (MB),RTT (ms)\r\n0,1,\r\n0.5,,600\r\n1,,\r\n')
  })

  it('of a map are a row per cell', () => {
    expect(heatTable([{ grid, factor: 1e-6 }])).toEqual({
      heads: ['Condition', 'Phase', 'Throughput difference (Mb/s)'],
      rows: [
        ['Cubic against BBR', 'Start-up', -2],
        ['Cubic against BBR', 'Steady state', null],
      ],
    })
  })

  it('keep a negative number, and nine digits', () => {
    expect(csvText({ heads: ['a'], rows: [[-0.1 - 0.2], [1 / 3], [Number.NaN]] })).toBe('a\r\n-0.3\r\n0.333333333\r\n\r\n')
  })
})

it('words wrap where their width ends; one that is too long has a line of its own', () => {
  expect(wrapped('one two incomprehensibilities three', 40, 8)).toEqual(['one two', 'incomprehensibilities', 'three'])
})
