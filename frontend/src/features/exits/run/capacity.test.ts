import { expect, it } from 'vitest'
import { capacityText } from './capacity'

it('the log of an emulated link decides where there is one', () => {
  const logged = { capacity_us: 6_110_000, capacity_basis: 'link_log', capacity_rate_bps: 144e6, least_rtt_us: 562_000 } as const
  expect(capacityText(logged)).toBe(
    'Capacity: from here on the emulated link was busy, as it has been for the least RTT of 562 ms, at 144 Mb/s. The emulator’s log shows it.',
  )
  expect(capacityText({ ...logged, capacity_us: null, capacity_rate_bps: null })).toMatch(/^Capacity was never reached: the emulated link/)
})

const GEO = { capacity_us: 6_110_000, capacity_basis: 'emulated_rate', capacity_rate_bps: 144e6, least_rtt_us: 562_000 } as const

it('says which rate the capacity point was judged by', () => {
  expect(capacityText(GEO)).toContain("10.1 MB in flight, the link's emulated rate of 144 Mb/s times the least RTT of 562 ms")
  expect(capacityText({ ...GEO, capacity_basis: 'nominal_rate' })).toContain('nominal rate')
  expect(capacityText({ ...GEO, capacity_basis: 'plateau', capacity_rate_bps: 93e6 })).toContain('90 % of its plateau of 93.0 Mb/s')
})

it('says that capacity was never reached, and what that means for exits', () => {
  for (const capacity_basis of ['emulated_rate', 'plateau'] as const)
    expect(capacityText({ ...GEO, capacity_us: null, capacity_basis })).toMatch(/^Capacity was never reached.* is early\.$/)
  expect(capacityText(null)).toContain('without an RTT')
})
