import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { describe, expect, it } from 'vitest'
import type { CampaignRates, Report } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderPart } from '@/testing/renderPart'
import { makeWorld } from '@/testing/world'
import { RatesPanel } from './RatesPanel'
import { rateRows } from './rates'
import { parseResultsSearch, type RATES } from './search'
import { labelGroups } from './series'

type Name = 'recorded' | 'imported'

function groups(name: Name = 'recorded') {
  const report = said<Report>(`${name}-report`)
  return labelGroups(report.groups, report.groups[0]?.link ?? '')
}
const found = () => said<CampaignRates>('recorded-rates')

function Page({ name }: { name: Name }) {
  const [kind, setKind] = useState<(typeof RATES)[number]>('throughput')
  return <RatesPanel campaignId={IDS[name]} groups={groups(name)} source={{ campaign: name }} kind={kind} onKind={setKind} />
}

function draw(name: Name) {
  serve(makeWorld())
  renderPart(<Page name={name} />)
}

describe('the panel of rates', () => {
  it('has the numbers of each condition, of throughput and of goodput, without delivery tables', async () => {
    draw('recorded')
    expect(await screen.findByRole('heading', { name: 'Throughput of single seconds' })).toBeTruthy()
    await userEvent.click(screen.getByText('Goodput'))
    const [goodput] = rateRows(found(), groups(), 'goodput_bps')
    const table = within(screen.getByLabelText('Goodput of single seconds by condition'))
    const row = within(table.getByText(goodput?.label ?? '').closest('tr') as HTMLElement)
    expect(row.getByText(formatNumber((goodput?.rate.p95_bps ?? 0) / 1e6))).toBeTruthy()
    expect(row.getByText((goodput?.rate.n ?? 0).toLocaleString('en'))).toBeTruthy()
  })

  it('says that a rate is not known, beside one that is', async () => {
    draw('imported')
    expect(await screen.findByLabelText('Throughput of single seconds by condition')).toBeTruthy()
    await userEvent.click(screen.getByText('Goodput'))
    expect(await screen.findByText('No goodput is known')).toBeTruthy()
  })

  it('leaves out a condition of which no second is known', () => {
    const without = found()
    for (const rate of without.groups[0]?.rates ?? []) Object.assign(rate, { n: 0, quantiles_bps: [] })
    expect(rateRows(without, groups(), 'throughput_bps')).toHaveLength(groups().length - 1)
  })

  it('is kept in the address', () => {
    expect(parseResultsSearch({ rate: 'goodput' }).rate).toBe('goodput')
    expect(parseResultsSearch({ rate: 'speed' }).rate).toBeUndefined()
  })
})
