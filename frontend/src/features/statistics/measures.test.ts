import { describe, expect, it } from 'vitest'
import type { Comparison } from '@/api/types'
import { cycleRatio, ratioText, readingText } from '@/lib/comparisons'
import { METRICS, type Measure } from '@/lib/quantities'
import {
  canTell,
  choices,
  comparisonsAt,
  effectText,
  farthestFirst,
  forestRows,
  formatP,
  namesOf,
  offText,
  placeOf,
  powerSentence,
  primaryTitle,
  shapeText,
} from './measures'

const [throughput] = METRICS
if (!throughput) throw new Error('the first metric is throughput')

const comparison = (change: Partial<Comparison> = {}): Comparison => ({
  link: 'geo',
  flow: 1,
  phase: 'startup',
  metric: 'throughput_bps',
  condition: 'off',
  baseline: 'on',
  difference: { mean: 5e6, low: -1e6, high: 11e6, n: 5, sd: 4.8e6 },
  paired_ratio: { mean: 9.1, low: 6.2, high: 13.4, n: 5, sd: 0.3 },
  bootstrap_low: 1e6,
  bootstrap_high: 9e6,
  ratio: 9.63,
  cycles_higher: 5,
  cycles_lower: 0,
  reading: 'exploratory',
  is_primary: false,
  family: null,
  cycles_for_test: null,
  level_p: null,
  ks_distance: null,
  shape_p: null,
  detectable_difference: 8e6,
  cycles_needed: null,
  cycles_missing: null,
  ...change,
})

const clear = { mean: 5e6, low: 2e6, high: 8e6, n: 5, sd: 2.4e6 }
const primary = { is_primary: true, family: 1, cycles_for_test: 6 }

describe('what the cycles can show', () => {
  const sees = 'With n = 5 a true difference of 8.00 Mb/s is seen with a chance of 80 %.'
  it.each([
    [{}, `${sees} The interval holds zero: how many cycles it would take cannot be said.`],
    [
      { difference: clear, cycles_needed: 9, cycles_missing: 4 },
      `${sees} 4 more cycles are needed to see the near end of the interval, +2.00 Mb/s.`,
    ],
    [{ difference: clear, cycles_needed: 4, cycles_missing: 0 }, `${sees} That is enough for the near end of the interval, +2.00 Mb/s.`],
    [
      { difference: { ...clear, low: -8e6, high: -2e6 }, cycles_needed: 6, cycles_missing: 1 },
      `${sees} 1 more cycle is needed to see the near end of the interval, −2.00 Mb/s.`,
    ],
    [{ difference: clear }, `${sees} No practical number of cycles would show one as small as +2.00 Mb/s.`],
    [
      { ...primary, reading: 'too_few' as const, difference: clear, cycles_needed: 6, cycles_missing: 1 },
      '5 cycles cannot show any difference: the test takes 6. 1 more cycle is needed to see the near end of the interval, +2.00 Mb/s.',
    ],
    [{ difference: { mean: 0, low: 0, high: 0, n: 5, sd: 0 }, detectable_difference: 0 }, 'All 5 cycles gave the same difference, 0 Mb/s.'],
    [
      { difference: { mean: 5e6, low: null, high: null, n: 1, sd: null }, detectable_difference: null },
      'With n = 1 nothing can be said yet: it takes two cycles in which both conditions are complete.',
    ],
  ])('%o', (change, says) => {
    expect(powerSentence(comparison(change), throughput)).toBe(says)
  })
})

describe('a comparison has one reading, and claims a difference only by its test', () => {
  it.each([
    [{ ...primary, reading: 'higher' as const, level_p: 0.03 }, 'off higher'],
    [{ ...primary, reading: 'lower' as const, level_p: 0.03 }, 'off lower'],
    [{ ...primary, reading: 'no_difference' as const, level_p: 0.4 }, 'no difference shown'],
    [{ ...primary, reading: 'too_few' as const }, 'higher in all 5 cycles; a test needs 6'],
    [{}, 'higher in all 5 cycles, not tested'],
    [{ cycles_higher: 1, cycles_lower: 4 }, 'lower in 4 of 5 cycles, not tested'],
    [{ cycles_higher: 0, cycles_lower: 0 }, 'equal in all 5 cycles, not tested'],
    [{ difference: { mean: 1, low: null, high: null, n: 1, sd: null } }, 'needs two cycles or more'],
  ])('%o', (change, says) => expect(readingText(comparison(change))).toBe(says))

  it('a ratio stands beside the difference', () => expect([9.63, null].map(ratioText)).toEqual(['9.63 ×', '–']))
})

it('one cycle tells nothing', () => {
  const alone = comparison({ difference: { mean: 5e6, low: null, high: null, n: 1, sd: null } })
  expect([canTell([]), canTell([alone]), canTell([alone, comparison()])]).toEqual([false, false, true])
})

describe('what is chosen', () => {
  const all = [comparison(), comparison({ metric: 'rtt_ms' }), comparison({ link: 'leo', flow: 2, phase: 'steady' })]

  it('offers what there is in a phase', () => {
    const { links, flows, metrics } = choices(all, 'startup')
    expect([links, flows, metrics.map(({ name }) => name)]).toEqual([
      ['geo', 'leo'],
      [1, 2],
      ['throughput_bps', 'rtt_ms'],
    ])
  })

  it('the whole run has its time to steady state besides', () => {
    const { metrics } = choices([...all, comparison({ phase: 'overall', metric: 'time_to_steady_s' })], 'overall')
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
  expect(forestRows([comparison({ bootstrap_high: null })], 1e-6, ['on', 'off'])).toEqual([
    { label: 'off − on', style: 1, mean: 5, low: -1, high: 11, bootstrap_low: 1, bootstrap_high: null },
  ])
})

it('a difference is said as times, too, unless a cycle has no ratio: those left would be a choice', () => {
  const throughput = METRICS.find(({ name }) => name === 'throughput_bps') as Measure
  const one = comparison()
  expect(effectText(one, throughput)).toBe('+5.00 Mb/s (−1.00 to +11.0), 9.10 (6.20–13.4) times')
  expect(effectText({ ...one, paired_ratio: { ...one.paired_ratio, n: 4 } }, throughput)).toBe('+5.00 Mb/s (−1.00 to +11.0)')
  expect(cycleRatio({ difference: { n: 0 }, paired_ratio: { mean: null, low: null, high: null, n: 0 } })).toBeNull()
})

it('of many comparisons each goes by its condition, since the title has the baseline', () => {
  const many = ['a', 'b', 'c', 'd', 'e'].map((condition) => comparison({ condition }))
  expect(namesOf(many)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(namesOf(many.slice(0, 2))).toEqual(['a − on', 'b − on'])
})

it('tests are said in words and numbers', () => {
  expect([null, 0.0004, 0.0123].map(formatP)).toEqual(['–', '< 0.001', '0.012'])
  expect([null, 0.05, 0.051].map((shape_p) => shapeText({ shape_p, reading: 'exploratory' }))).toEqual([
    'too few cycles',
    'differs',
    'no difference shown',
  ])
  expect(['steady.rtt_ms', 'time_to_steady_s', 'else'].map(primaryTitle)).toEqual(['RTT, steady state', 'Time to steady state', 'else'])
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

it('a row that says that levels differ does not also say that no difference is shown', () => {
  expect(shapeText({ shape_p: 0.4, reading: 'higher' })).toBe('nothing beyond the level')
  expect(shapeText({ shape_p: 0.01, reading: 'higher' })).toBe('differs')
})
