import { describe, expect, it } from 'vitest'
import type { Evidence } from '@/api/types'
import { METRICS } from '../results/series'
import {
  canTell,
  choices,
  comparisonsAt,
  farthestFirst,
  forestRows,
  formatP,
  offText,
  placeOf,
  powerSentence,
  testsVerdict,
} from './evidence'

const [throughput] = METRICS
if (!throughput) throw new Error('the first metric is throughput')

const evidence = (change: Partial<Evidence> = {}): Evidence => ({
  link: 'geo',
  flow: 1,
  phase: 'startup',
  metric: 'throughput_bps',
  condition: 'off',
  baseline: 'on',
  difference: { mean: 5e6, low: -1e6, high: 11e6, n: 5, sd: 4.8e6 },
  bootstrap_low: 1e6,
  bootstrap_high: 9e6,
  detectable_difference: 8e6,
  cycles_needed: 9,
  cycles_missing: 4,
  ks_distance: 0.6,
  shape_p: 0.3,
  location_p: 0.2,
  ...change,
})

describe('what the cycles can show', () => {
  it.each([
    [{}, 'With n = 5 you can see 8.00 Mb/s. 4 more cycles are needed to see +5.00 Mb/s, the difference so far.'],
    [
      { cycles_needed: 6, cycles_missing: 1 },
      'With n = 5 you can see 8.00 Mb/s. 1 more cycle is needed to see +5.00 Mb/s, the difference so far.',
    ],
    [{ cycles_needed: 4, cycles_missing: 0 }, 'With n = 5 you can see 8.00 Mb/s. That is enough for the +5.00 Mb/s seen so far.'],
    [
      { cycles_needed: null, cycles_missing: null },
      'With n = 5 you can see 8.00 Mb/s. No practical number of cycles would show the +5.00 Mb/s seen so far.',
    ],
    [{ difference: { mean: 0, low: 0, high: 0, n: 5, sd: 0 }, detectable_difference: 0 }, 'All 5 cycles gave the same difference, 0 Mb/s.'],
    [
      { difference: { mean: 5e6, low: null, high: null, n: 1, sd: null }, detectable_difference: null },
      'With n = 1 nothing can be said yet: it takes two cycles in which both conditions are complete.',
    ],
  ])('%o', (change, says) => {
    expect(powerSentence(evidence(change), throughput)).toBe(says)
  })
})

it('one cycle tells nothing', () => {
  const alone = evidence({ difference: { mean: 5e6, low: null, high: null, n: 1, sd: null } })
  expect([canTell([]), canTell([alone]), canTell([alone, evidence()])]).toEqual([false, false, true])
})

describe('what is chosen', () => {
  const all = [evidence(), evidence({ metric: 'rtt_ms' }), evidence({ link: 'leo', flow: 2, phase: 'steady' })]

  it('offers what there is in a phase', () => {
    const { links, flows, metrics } = choices(all, 'startup')
    expect([links, flows, metrics.map(({ name }) => name)]).toEqual([
      ['geo', 'leo'],
      [1, 2],
      ['throughput_bps', 'rtt_ms'],
    ])
  })

  it('the whole run has its time to steady state besides', () => {
    const { metrics } = choices([...all, evidence({ phase: 'overall', metric: 'time_to_steady_s' })], 'overall')
    expect(metrics.map(({ title }) => title)).toEqual(['Time to steady state'])
  })

  it('what the address does not know falls back to the first', () => {
    expect(placeOf(all, { link: 'nowhere', flow: 7, metric: 'x' })).toMatchObject({ link: 'geo', flow: 1, phase: 'startup' })
    expect(placeOf([], {})).toBeNull()
  })

  it('shows one place', () => {
    const place = placeOf(all, { link: 'leo', flow: 2, phase: 'steady' })
    expect(place && comparisonsAt(all, place)).toEqual([all[2]])
  })
})

it('a row of the forest plot is in the shown unit', () => {
  expect(forestRows([evidence({ bootstrap_high: null })], 1e-6)).toEqual([
    { label: 'off − on', style: 1, mean: 5, low: -1, high: 11, bootstrap_low: 1, bootstrap_high: null },
  ])
})

it('tests are said in words and numbers', () => {
  expect([null, 0.0004, 0.0123].map(formatP)).toEqual(['–', '< 0.001', '0.012'])
  const verdict = (shape_p: number | null, location_p: number | null) => testsVerdict({ shape_p, location_p })
  expect(verdict(null, null)).toBe('needs three values a side')
  expect(verdict(0.01, 0.01)).toBe('level differs')
  expect(verdict(0.01, 0.5)).toBe('shape differs, level does not')
  expect(verdict(0.5, 0.5)).toBe('no difference shown')
})

it('what lies farthest from its median comes first, told as a share of it', () => {
  const placed = [
    { value: 109, median: 110 },
    { value: 5, median: 0 },
    { value: 88, median: 131.4 },
    { value: -3, median: -2 },
  ]
  expect(farthestFirst(placed).map(offText)).toEqual(['–', '−50.0 %', '−33.0 %', '−0.91 %'])
})
