import { expect, it } from 'vitest'
import type { SweepCell } from '@/api/types'
import { axesOf, heatCell, planeOf, scaleOf } from './layout'

const GRID = { bins: [10], window_factor: [2.5, 3.5], threshold_percent: [20, 30, 40] }
const share = (value: number) => ({ value: value / 100, low: (value - 5) / 100, high: (value + 5) / 100, n: 6 })
const cellOf = (window_factor: number, threshold_percent: number): SweepCell => ({
  parameters: { bins: 10, window_factor, threshold_percent },
  n: 6,
  shares: { early: share(10), good: share(window_factor * 10 + threshold_percent), late: share(15), open: share(0) },
  headroom_s: threshold_percent === 40 ? null : threshold_percent / 10,
})
const CELLS = GRID.window_factor.flatMap((factor) => GRID.threshold_percent.map((threshold) => cellOf(factor, threshold)))

it('the axes are the parameters with several values, the others are held', () => {
  expect(axesOf({ grid: GRID }, {})).toEqual({ x: 'window_factor', y: 'threshold_percent', held: { bins: 10 } })
})

it('the address chooses axes and held values; what the sweep does not have is ignored', () => {
  expect(axesOf({ grid: GRID }, { x: 'threshold_percent', y: 'bins', at: ['window_factor=3.5', 'alpha=2'] })).toEqual({
    x: 'threshold_percent',
    y: 'bins',
    held: { window_factor: 3.5 },
  })
  expect(axesOf({ grid: GRID }, { x: 'alpha', at: ['bins=11'] }).held).toEqual({ bins: 10 })
})

it('choosing one axis as the other does not draw a parameter against itself', () => {
  expect(axesOf({ grid: GRID }, { y: 'window_factor' })).toMatchObject({ x: 'threshold_percent', y: 'window_factor' })
})

it('rows are y, columns are x, whatever the order of the cells', () => {
  const axes = axesOf({ grid: GRID }, {})
  const plane = planeOf({ grid: GRID, cells: [...CELLS].reverse() }, axes)
  expect(plane.map((row) => row.map((cell) => heatCell(cell, 'good')?.text))).toEqual([
    ['45', '55'],
    ['55', '65'],
    ['65', '75'],
  ])
})

it('one parameter makes one row', () => {
  const grid = { threshold_percent: [20, 30] }
  const cells = [20, 30].map((value) => ({ ...cellOf(3.5, value), parameters: { threshold_percent: value } }))
  const axes = axesOf({ grid }, {})
  expect(axes.y).toBeNull()
  expect(planeOf({ grid, cells }, axes).map((row) => row.length)).toEqual([2])
})

it('a cell prints its measure and tells its interval; nothing stands for nothing', () => {
  const cell = cellOf(3.5, 40)
  expect(heatCell(cell, 'good')).toMatchObject({ text: '75' })
  expect(heatCell(cell, 'good')?.detail).toContain('75 % (70–80), n = 6')
  expect([heatCell({ ...cell, shares: null }, 'late'), heatCell(cell, 'headroom_s'), heatCell(null, 'early')]).toEqual([null, null, null])
})

it('shares share one scale, headroom has its own', () => {
  const column = CELLS.map((cell) => heatCell(cell, 'headroom_s'))
  expect(scaleOf('headroom_s', [column])).toEqual([0, 3])
  expect(scaleOf('early', [column])).toEqual([0, 100])
})
