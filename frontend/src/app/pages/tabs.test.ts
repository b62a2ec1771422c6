import { expect, it } from 'vitest'
import { parseCampaignSearch } from './campaignTabs'
import { parseRunSearch } from './runTabs'

it('an address of a campaign holds what each tab shows, and a tab keeps what the others have', () => {
  const address = {
    tab: 'exits',
    link: 'geo',
    hide: ['HyStart off'],
    flow: 2,
    metric: 'rtt_ms',
    phase: 'steady',
    range: 'startup',
    band: 'off',
    state: 'failed',
    condition: 'HyStart on',
    sort: 'ended_at.desc',
    group: 'geo · HyStart on',
    detectors: [],
    sweep: 's',
    x: 'bins',
    y: 'window',
    at: ['bins=10'],
  }
  expect(parseCampaignSearch(address)).toEqual(address)
})

it('what is not understood is left out', () => {
  expect(parseCampaignSearch({ tab: 'nonsense', phase: 3, sort: 'x', other: 1 })).toEqual({})
  expect(parseRunSearch({ tab: 'results', flow: -1, range: 'startup' })).toEqual({})
})

it('an address of a run holds the stretch of time that its exits are shown over', () => {
  const address = { tab: 'exits', flow: 1, detectors: ['best'], range: 'all', from_s: 0.5, to_s: 3 }
  expect(parseRunSearch(address)).toEqual(address)
})
