import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { describe, expect, it } from 'vitest'
import type { CampaignDelays, CampaignReproduction, Report } from '@/api/types'
import { valueAt } from '@/charts/curves'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderPart } from '@/testing/renderPart'
import { makeWorld } from '@/testing/world'
import { cdfCurves, publishedShares } from './cdf'
import { DelaysPanel } from './DelaysPanel'
import { delayRows, leftOut } from './delays'
import { type DELAY_KINDS, parseResultsSearch } from './search'
import { labelGroups } from './series'

const found = () => said<CampaignDelays>('acks-delays')
const groups = () => labelGroups(said<Report>('acks-report').groups, 'geo-viasat')

describe('the distribution of delays', () => {
  it('has at each quantile the share of blocks that are not above it', () => {
    const { shares } = found()
    const rows = delayRows(found(), groups(), 'in_order_delay')
    const { x, curves, from, to } = cdfCurves(rows, shares)
    expect(curves.map(({ label }) => label)).toEqual(['HyStart on', 'HyStart off'])
    const [row] = rows
    const median = row?.delay.median_ms ?? 0
    // A quarter of the recorded blocks has 80 ms, and 85, 90, 95 ms each.
    expect(valueAt(x, curves[0]?.y ?? [], median)).toBe(50)
    expect(valueAt(x, curves[0]?.y ?? [], from)).toBe(0)
    expect(curves.every(({ y }) => y.every((value, index) => index === 0 || (value ?? 0) >= (y[index - 1] ?? 0)))).toBe(true)
    expect(from).toBeLessThanOrEqual(80)
    expect(to).toBeGreaterThanOrEqual(95)
  })

  it('ends where each condition has 99 % of its blocks, however far out the last ones are', () => {
    const far = found()
    for (const group of far.groups) for (const delay of group.delays) if (delay.quantiles_ms.length > 0) delay.quantiles_ms[100] = 1e6
    const { to, curves } = cdfCurves(delayRows(far, groups(), 'one_way_delay'), far.shares)
    expect(to).toBeLessThan(200)
    expect(curves[0]?.y.at(-1)).toBe(99)
  })

  it('says each reason once, with the runs of all conditions', () => {
    const without = found()
    for (const group of without.groups)
      for (const delay of group.delays)
        Object.assign(delay, { runs: 0, quantiles_ms: [], left_out: [{ why: 'clock_unsure', sentence: 'The clocks.', runs: 2 }] })
    expect(leftOut(delayRows(without, groups(), 'one_way_delay'))).toEqual([{ sentence: 'The clocks.', runs: 4 }])
  })
})

const reproduced = (change: object): CampaignReproduction => {
  const [found] = said<{ items: CampaignReproduction[] }>('reproductions').items
  const [figure] = found?.figures ?? []
  const [value] = figure?.values ?? []
  if (!found || !figure || !value) throw new Error('the example names what it reproduces')
  const own = { link: 'geo-viasat', condition: 'HyStart off', flow: 1, metric: 'one_way_delay_ms', unit: 'ms', share: 0.8 }
  return { ...found, figures: [{ ...figure, values: [{ ...value, ...own, least: null, most: 180, reading: 'inside', ...change }] }] }
}

describe('what was published of a distribution', () => {
  it('is a point at its value and share, in the colour of its condition, and on the axis', () => {
    const [off] = groups().filter(({ label }) => label === 'HyStart off')
    const published = publishedShares(reproduced({}), groups(), 'one_way_delay_ms')
    const { to, points } = cdfCurves(delayRows(found(), groups(), 'one_way_delay'), found().shares, published)
    expect(points).toMatchObject([{ x: 180, y: 80, style: off?.style, text: 'at most 180 ms at 80 %' }])
    expect(to).toBeGreaterThanOrEqual(180)
    expect(published[0]?.sentence).toBe('HyStart off: at most 180 ms at 80 % (inside)')
  })

  it('has a point at each end of a range, and its text once', () => {
    const [range] = publishedShares(reproduced({ least: 80, most: 90 }), groups(), 'one_way_delay_ms')
    expect(range?.points.map(({ x, text }) => [x, text])).toEqual([
      [80, ''],
      [90, '80 to 90 ms at 80 %'],
    ])
    expect(publishedShares(reproduced({ least: 80, most: 80 }), groups(), 'one_way_delay_ms')[0]?.points).toHaveLength(1)
  })

  it.each([{ metric: 'jitter_ms' }, { share: null }, { share: undefined }, { link: 'leo' }, { condition: 'other' }, { flow: 2 }])(
    'is no point where it is of something else: %j',
    (change) => expect(publishedShares(reproduced(change), groups(), 'one_way_delay_ms')).toEqual([]),
  )
})

type Name = 'acks' | 'recorded'

function Page({ name }: { name: Name }) {
  const [kind, setKind] = useState<(typeof DELAY_KINDS)[number]>('arrival')
  return <DelaysPanel campaignId={IDS[name]} groups={groups()} source={{ campaign: name }} kind={kind} onKind={setKind} />
}

function draw(name: Name) {
  serve(makeWorld())
  renderPart(<Page name={name} />)
}

describe('the panel of delays', () => {
  it('shows a curve and a line of numbers for each condition, until blocks arrived or were in order', async () => {
    draw('acks')
    expect(await screen.findAllByText('85.5')).toHaveLength(2)
    await userEvent.click(screen.getByText('In order'))
    const row = within((await screen.findAllByText('87.5'))[0]?.closest('tr') as HTMLElement)
    for (const text of ['HyStart on', '± 3.00', '400', '1 of 1']) expect(row.getByText(text)).toBeTruthy()
  })

  it('shows jitter by pairs of seconds', async () => {
    draw('acks')
    await userEvent.click(await screen.findByText('Jitter'))
    expect(await screen.findByRole('heading', { name: 'Jitter' })).toBeTruthy()
    expect(screen.getAllByText('% of the pairs of seconds, up to here', { exact: false }).length).toBeGreaterThan(0)
    const row = within((await screen.findAllByText('5.00'))[0]?.closest('tr') as HTMLElement)
    for (const text of ['HyStart on', '4.98', '3', '1 of 1']) expect(row.getAllByText(text).length).toBeGreaterThan(0)
    expect(screen.getByText(/^Absolute change of the blocks’ mean/)).toBeTruthy()
  })

  it('shows what was published beside its curve, and whether ours holds it', async () => {
    const world = makeWorld()
    world.instead[`/campaigns/${IDS.acks}/reproduction`] = reproduced({ reading: 'outside' })
    serve(world)
    renderPart(<Page name="acks" />)
    expect(await screen.findByText(/HyStart off: at most 180 ms at 80 % \(outside\)/)).toBeTruthy()
    await userEvent.click(screen.getByText('In order'))
    expect(screen.queryByText(/Rings: what was published/)).toBeNull()
  })

  it('says how to get tables where there are none', async () => {
    draw('recorded')
    expect(await screen.findByText('deliveries: true')).toBeTruthy()
  })

  it('is kept in the address', () => {
    expect(parseResultsSearch({ delay: 'order' }).delay).toBe('order')
    expect(parseResultsSearch({ delay: 'jitter' }).delay).toBe('jitter')
    expect(parseResultsSearch({ delay: 'later' }).delay).toBeUndefined()
  })
})
