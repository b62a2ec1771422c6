import { expect, it } from 'vitest'
import { expectTexts } from './wording'

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
