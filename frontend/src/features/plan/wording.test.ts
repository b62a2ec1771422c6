import { expect, it } from 'vitest'
import { expectTexts, flowText, triggerTexts } from './wording'

it('expected ranges are said in the units that people read, with whose they are', () => {
  expect(expectTexts({})).toEqual([])
  expect(
    expectTexts({
      expect: [
        { metric: 'overall.goodput_bps', above: 20_000_000, below: 120_000_000, condition: 'Cubic', link: 'geo', flow: 2 },
        { metric: 'steady.rtt_ms', below: 700.5 },
        { metric: 'lead.waiting_bytes', below: 1_234_567, link: 'geo' },
      ],
    }),
  ).toEqual([
    'Goodput (overall, flow 2) of Cubic on geo above 20 and below 120 Mb/s',
    'RTT (steady state) below 700.5 ms',
    'Waiting for the hop (lead) on geo below 1.234567 MB',
  ])
})

it('a trigger says how far apart its firings are at least, and how many there are at most', () => {
  const trigger = { when: { call: true }, pause_s: 600, most_per_day: 24, most: 100, until: '2026-12-31' }
  expect(triggerTexts({ trigger: trigger as never })).toEqual([
    'starts by a signed call, at least 10 min apart, at most 24 a day, 100 in all, until 2026-12-31',
  ])
})

it('a flow says where it goes, when that is not the first receiver', () => {
  const intcp = { transport: 'intcp', options: {}, sender: 1, start_s: 5, receiver: 2, content: 1 }
  expect(flowText(intcp as never)).toBe('INTCP from sender 1 to receiver 2, content 1, 5 s later')
  expect(flowText({ cc: 'cubic', options: {}, sender: 2, start_s: 0 } as never)).toBe('cubic from sender 2')
})
