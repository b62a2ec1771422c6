import { expect, it } from 'vitest'
import type { PathStay, PathWindow } from '@/api/types'
import { parsePathSearch } from './search'
import { momentOf, searchFor, spanOf, stepOf } from './span'
import { changesOf, countedChanges, rowOfChanges, stripShapes } from './strip'
import { heldAt, routeText } from './words'

const HOUR_US = 3_600e6
const DAY_US = 24 * HOUR_US
const stay = (from_us: number, to_us: number, hops = 2): PathStay => ({ from_us, to_us, hops })

it('an address that makes no sense shows the whole path', () => {
  expect(spanOf(parsePathSearch({ from: 'x', span: -3, at: null }), DAY_US)).toEqual({ from_us: 0, to_us: DAY_US })
  expect(spanOf({ from: 1e9, span: 600 }, DAY_US)).toEqual({ from_us: DAY_US - 600e6, to_us: DAY_US })
})

it('a window always has its moment', () => {
  expect(spanOf({ at: 3_600, from: 0, span: 600 }, DAY_US)).toEqual({ from_us: 3_300e6, to_us: 3_900e6 })
  expect(spanOf({ at: 600, from: 0, span: 600 }, DAY_US)).toEqual({ from_us: 0, to_us: 600e6 })
  const beyond = { at: 1e9, span: 600 }
  expect(momentOf(beyond, spanOf(beyond, DAY_US), DAY_US)).toBe(DAY_US)
  expect(momentOf({}, { from_us: 7, to_us: 9 }, DAY_US)).toBe(7)
  expect(searchFor(10e6, 600, DAY_US)).toEqual({ at: 10, from: 0, span: 600 })
  expect(searchFor(10e6, null, DAY_US)).toEqual({ at: 10 })
})

it('a key moves the moment by some hundredths of the window', () => {
  expect(stepOf({ from_us: 0, to_us: DAY_US })).toBe(100e6)
  expect(stepOf({ from_us: 0, to_us: 1e6 })).toBe(100_000)
})

it('changes are those within the window, and are counted where they are many', () => {
  const stays = [stay(0, 10), stay(10, 20), stay(20, 35), stay(35, 100)]
  const span = { from_us: 5, to_us: 35 }
  expect(changesOf(stays, span)).toEqual([10, 20])
  expect(countedChanges([10, 20, 34], { from_us: 0, to_us: 40 }, 2)).toEqual([1, 2])
  expect(rowOfChanges([10, 20], span, 300)).toBeNull()
  expect(rowOfChanges(Array(200).fill(10), span, 300)?.bars).toHaveLength(50)
})

it('a stretch without a path is shaded, and no line crosses it', () => {
  const points = [25, null, null, 26].map((delay_ms, at) => ({ at_us: at * 10e6, delay_ms, hops: delay_ms === null ? 0 : 2 }))
  const stays = [stay(0, 5e6), stay(5e6, 25e6, 0), stay(25e6, 30e6)]
  const box = { span: { from_us: 0, to_us: 30e6 }, start_s: 0, width: 400 }
  const shapes = stripShapes({ window: { points, stays }, ...box })
  expect(shapes.filter((shape) => shape.is === 'path' && shape.fill === 'chart-note')).toHaveLength(1)
  const lines = shapes
    .flatMap((shape) => (shape.is === 'clip' ? shape.shapes : []))
    .find((shape) => 'role' in shape && shape.role === 'mean')
  expect(lines?.is === 'path' ? lines.d.match(/M/g) : null).toHaveLength(2)
  const without = stripShapes({ window: { points, stays: [stay(0, 30e6)] }, ...box })
  expect(without.some((shape) => shape.is === 'path' && shape.fill === 'chart-note')).toBe(false)
})

it('a moment is told by the path that holds then, also at the very end', () => {
  const window: PathWindow = {
    from_us: 0,
    to_us: 20,
    at_us: 10,
    points: [
      { at_us: 0, delay_ms: 1, hops: 2 },
      { at_us: 10, delay_ms: null, hops: 0 },
    ],
    stays: [stay(0, 10), stay(10, 20, 0)],
    places: [],
  }
  expect(heldAt(window)).toEqual({ delay_ms: null, hops: 0, stay: stay(10, 20, 0) })
  expect(heldAt({ ...window, at_us: 20 }).stay).toEqual(stay(10, 20, 0))
})

it('a route names its stations, and its satellites by number', () => {
  const place = (node: number, name: string | null) => ({ node, name, latitude_deg: 0, longitude_deg: 0, height_km: 0 })
  expect(routeText([place(-1, 'london'), place(5, null), place(6, null), place(-3, 'new-york'), place(9, null), place(-2, 'manila')])).toBe(
    'London → satellites 5, 6 → New York → satellite 9 → Manila',
  )
  expect(routeText([])).toBe('')
})
