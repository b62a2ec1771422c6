import { describe, expect, it } from 'vitest'
import type { CampaignReproduction, ReproducedValue } from '@/api/types'
import { publishedText } from '@/lib/published'
import { said } from '@/testing/recordings'
import { comparedText, countText, figuresOf, oursText, spanOf, toleranceText } from './table'

const { items } = said<{ items: CampaignReproduction[] }>('reproductions')
const [recorded] = items
if (!recorded) throw new Error('the example names what it reproduces')
const first = recorded.figures[0]?.values[0] as ReproducedValue
const value = (change: Partial<ReproducedValue>): ReproducedValue => ({ ...first, ...change })

describe('figures', () => {
  it('have a column for each campaign that reproduces them, and a row for each value of any', () => {
    const other = structuredClone(recorded)
    Object.assign(other, { campaign_id: 'dish', name: 'Over a dish' })
    other.figures = other.figures.slice(0, 1).map((figure) => ({
      ...figure,
      values: [value({ estimate: 9.1 }), value({ name: 'of the dish alone' })],
    }))
    const [objects, abstract] = figuresOf([recorded, other])
    expect([objects?.campaigns.length, abstract?.campaigns.length]).toEqual([2, 1])
    expect(objects?.rows.at(0)?.ours.map((ours) => ours?.estimate)).toEqual([first.estimate, 9.1])
    expect(objects?.rows.at(-1)?.ours.map((ours) => ours?.name ?? null)).toEqual([null, 'of the dish alone'])
  })

  it('of one paper stand together', () => {
    const later = { ...recorded, figures: [{ paper: 'Other 2020', figure: 'Figure 1', values: [first] }, ...recorded.figures] }
    expect(figuresOf([recorded, later]).map(({ paper }) => paper)).toEqual(['Peters 2021', 'Peters 2021', 'Other 2020'])
  })
})

it.each([
  [{ least: 8, most: 8, unit: 's' }, '8 s'],
  [{ least: 800, most: 1200, unit: 'ms' }, '800 to 1,200 ms'],
  [{ least: 0.97, most: null, unit: '' }, 'at least 0.97'],
  [{ least: null, most: -1.5, unit: 'Mb/s' }, 'at most −1.5 Mb/s'],
  [{ least: null, most: 180, unit: 'ms', share: 0.8 }, 'at most 180 ms at 80 %'],
])('what was published is %j', (change, text) => expect(publishedText(value(change))).toBe(text))

it('ours has its interval and n, and says of what', () => {
  expect(oursText(value({ estimate: 7.5, low: 7.1, high: 7.96 }))).toBe('7.50 (7.10–7.96)')
  expect(oursText(value({ n: 0, estimate: null }))).toBe('–')
  expect(countText(value({ n: 4, statistic: 'ratio', not_within: null }))).toBe('n = 4 pairs')
  expect(countText(value({ n: 5, statistic: 'median', not_within: 2 }))).toBe('n = 5, 2 not reached')
})

it('ours says when it is shown to be within the tolerance', () => {
  expect(toleranceText(value({ tolerance: 0.8 }))).toBe('± 0.8 s')
  expect(countText(value({ equivalence_p: 0.05 }))).toBe('n = 3')
  expect(countText(value({ equivalence_p: 0.049 }))).toBe('n = 3, shown to be within the tolerance')
  expect(toleranceText(value({ tolerance: null }))).toBeNull()
})

it('says what of ours it is compared to', () => {
  expect(comparedText(first)).toBe('Object time at the receiver of 1 MB: HyStart on')
  const lead = { metric: 'throughput_bps', title: 'Throughput', object_mb: null, phase: 'lead', condition: 'pair', flow: 2 }
  expect(comparedText(value({ ...lead, over: { condition: 'pair', flow: 1 } }))).toBe('Throughput, lead: pair, flow 2 over pair')
  const gain = { ...lead, flow: 1, phase: 'overall', link: 'small', than_link: 'large', over: { condition: 'other', flow: 1 } }
  expect(comparedText(value(gain))).toBe('Throughput: pair over other, over small against large')
})

it('an axis holds every interval and what was published', () => {
  const row = { name: 'x', published: value({ least: 8, most: 8 }), ours: [value({ low: -2, high: 12 }), null] }
  const { min, max } = spanOf(row)
  expect(min).toBeLessThan(-2)
  expect(max).toBeGreaterThan(12)
  expect(spanOf({ ...row, ours: [value({ low: 6, high: 12 })] }).min).toBe(0)
})
