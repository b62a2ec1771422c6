import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { CampaignDetail, CampaignReproduction, CampaignSpec, CampaignValues, Report } from '@/api/types'
import { METRICS } from '@/lib/quantities'
import { serve } from '@/testing/network'
import { said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'
import { variedFigure } from './figures'
import './VariedPanel' // its page loads it when it is shown, which takes a busy machine seconds
import { placeNames, variedOf, variedRatios, variedValues } from './varied'

const campaign = said<CampaignDetail>('relayed')
const report = said<Report>('relayed-report')
const goodput = METRICS.find(({ name }) => name === 'goodput_bps')
if (!goodput) throw new Error('no goodput')

/** The campaign's file over two links that differ in their loss, of which the report has the groups of both conditions. */
const overLinks: CampaignSpec = {
  ...campaign.spec,
  vary: { loss_ratio: { wet: 0.00001, dry: 0 } },
  conditions: campaign.spec.conditions.map((condition, index) => ({ ...condition, name: ['Reno', 'INTCP'][index] ?? '', varied: null })),
}
const interval = (mean: number) => ({ mean, low: mean - 1, high: mean + 1, n: 3, sd: 1 })
const linked: Report = {
  ...report,
  groups: ['dry', 'wet'].flatMap((link) =>
    ['Reno', 'INTCP'].map((condition) => ({ ...(report.groups[0] as Report['groups'][number]), link, condition })),
  ),
  comparisons: ['dry', 'wet'].map((link, index) => ({
    link, condition: 'INTCP', baseline: 'Reno', flow: 1, phase: 'overall', metric: 'goodput_bps', paired_ratio: interval(1 + index),
  })) as unknown as Report['comparisons'], // biome-ignore format: a row each
}
const published = (link: string, least: number | null, most: number | null, over: { condition: string; flow: number } | null) => ({
  name: `${link} ${least}`, metric: 'goodput_bps', phase: 'overall', link, condition: 'INTCP', flow: 1, over, minus: null, than_link: null, least, most,
}) // biome-ignore format: one value
const reproduction = {
  figures: [
    {
      values: [
        published('dry', 16.4, 16.4, null),
        published('wet', 15, null, null),
        { ...published('dry', 16.3, 16.3, null), share: 0.8 },
        published('wet', 1.6, 1.6, { condition: 'Reno', flow: 1 }),
      ],
    },
  ],
} as unknown as CampaignReproduction
/** Two cycles of each: Reno's second one lies higher, INTCP's lower. */
const values = {
  sides: ['dry', 'wet'].flatMap((link) => [
    { link, condition: 'Reno', flow: 1, cycles: [1, 2], values: [10, 20] },
    { link, condition: 'INTCP', flow: 1, cycles: [1, 2], values: [16, 14] },
  ]),
} as unknown as CampaignValues
const asked = { spec: overLinks, report: linked, reproduction, values, link: 'dry', phase: 'overall', metric: goodput }

it('a campaign that varied a key draws its metrics over it', async () => {
  const world = makeWorld()
  world.campaigns.push(campaign)
  world.reports[campaign.id] = report
  serve(world)
  renderAt(`/campaigns/${campaign.id}`)
  const heading = await screen.findByText('Over buffer_bytes', { selector: 'h2' }) // roles are slow to find on so long a page
  const panel = heading.closest('section') as HTMLElement
  expect(await within(panel).findByRole('button', { name: /^Show the numbers behind Throughput, start-up/ })).toBeTruthy()
  expect(within(panel).getByRole('button', { name: 'INTCP' })).toBeTruthy()
  expect(within(panel).queryByText(/Rings/)).toBeNull()
})

it('conditions that one key made are one line, in rising order', () => {
  const varied = variedOf(campaign.spec)
  expect(varied).toEqual({ key: 'buffer_bytes', values: [100_000, 200_000], isOfLinks: false })
  if (!varied) throw new Error('nothing varied')
  const { series } = variedValues({ ...asked, spec: campaign.spec, report, varied, link: 'relayed' })
  expect(series.map(({ label, x }) => [label, x])).toEqual([['INTCP', [0, 1]]])
  expect(series[0]?.band.mean).toEqual([80e6, 80e6].map((each) => expect.closeTo(each, -5)))
})

it('links that differ in a key are places on the axis, and published numbers lie at theirs', () => {
  const varied = variedOf(overLinks)
  if (!varied) throw new Error('nothing varied')
  expect(varied.values).toEqual([0, 0.00001])
  const { series, published: rings } = variedValues({ ...asked, varied })
  expect(series.map(({ label, style }) => [label, style])).toEqual([
    ['Reno', 0],
    ['INTCP', 1],
  ])
  expect(rings).toEqual([{ id: 'dry 16.4', x: 0, value: 16.4e6, style: 1 }])
})

it('ratios are to the first condition, cycle by cycle, with published ratios', () => {
  const varied = variedOf(overLinks)
  if (!varied) throw new Error('nothing varied')
  const { series, published: rings } = variedRatios({ ...asked, varied })
  expect(series).toHaveLength(1)
  expect(series[0]).toMatchObject({ label: 'INTCP', x: [0, 1], band: { mean: [1, 2], n: [3, 3] } })
  expect(rings).toEqual([{ id: 'wet 1.6', x: 1, value: 1.6, style: 1 }])
})

it('few runs are drawn one by one, ratios within their cycle', () => {
  const varied = variedOf(overLinks)
  if (!varied) throw new Error('nothing varied')
  const [reno, intcp] = variedValues({ ...asked, varied }).series
  expect([reno?.band.runs, intcp?.band.runs]).toEqual([
    [
      [10, 10],
      [20, 20],
    ],
    [
      [16, 16],
      [14, 14],
    ],
  ])
  expect(variedRatios({ ...asked, varied }).series[0]?.band.runs).toEqual([
    [1.6, 1.6],
    [0.7, 0.7],
  ])
  const many = {
    ...linked,
    groups: linked.groups.map((group) => ({
      ...group,
      series: { ...group.series, throughput_bps: { ...group.series.throughput_bps, runs: [] } },
    })),
  }
  expect(variedValues({ ...asked, report: many, varied }).series[0]?.band.runs).toEqual([])
})

it('places are named as their values are written', () => {
  expect(placeNames({ key: 'loss', values: [0, 0.000001, 0.01, 2, 24_000_000], isOfLinks: true })).toEqual([
    '0',
    '1e-6',
    '0.01',
    '2',
    '24,000,000',
  ])
})

it('words, one value and nothing at all are no axis', () => {
  expect(variedOf({ vary: { kind: { a: 'x', b: 'y' } }, conditions: [] })).toBeNull()
  expect(variedOf({ vary: { kind: { a: 1, b: 1 } }, conditions: [] })).toBeNull()
  expect(variedOf(said<CampaignDetail>('running').spec)).toBeNull()
})

it('the figure has its places by name, in its numbers too', () => {
  const varied = variedOf(overLinks)
  if (!varied) throw new Error('nothing varied')
  const plot = variedRatios({ ...asked, varied })
  const figure = variedFigure({
    ...plot,
    xNames: placeNames(varied),
    xTitle: varied.key,
    title: 'Goodput, overall',
    unit: 'of Reno',
    factor: 1,
    from: 0,
    to: 1,
    metric: 'goodput_bps',
    isRatio: true,
    source: { campaign: 'Losses' },
  })
  expect(figure.table.rows.map(([label, x]) => [label, x])).toEqual([
    ['INTCP', '0'],
    ['INTCP', '1e-5'],
  ])
  expect(figure.caption).toContain('Rings: published values.')
})
