import { expect, it } from 'vitest'
import type { CampaignExits } from '@/api/types'
import { said } from '@/testing/recordings'
import { decidableOf, exitDistributions, groupLabel, shareText, timeText } from './groups'

const [first] = said<CampaignExits>('acks-exits').groups
const [second] = said<CampaignExits>('recorded-exits').groups
if (!first || !second) throw new Error('both were recorded')

it('a group is told by link and condition, and by its flow only where flows compete', () => {
  expect(groupLabel(first, [first, { ...second, condition: 'HyStart off' }])).toBe('geo-viasat · HyStart on')
  expect(groupLabel({ ...first, flow: 2, cc: 'bbr' }, [first, { ...first, flow: 2 }])).toBe('geo-viasat · HyStart on · flow 2: bbr')
})

it('detectors that could not decide anywhere have no distribution', () => {
  expect(decidableOf(first)).toHaveLength(17)
  expect(decidableOf(second).map(({ look }) => look.code)).toEqual(['obs', 'dp', 'ex', 'S3', 'S4'])
})

it('the denominator is the decidable runs: of four, two that exit reach half', () => {
  const [one] = decidableOf(first)
  if (!one) throw new Error('a detector was asked for')
  const { x, curves, to } = exitDistributions([{ ...one, exits: { ...one.exits, decidable: 4, undecidable: 3, exits_s: [2, 4] } }])
  expect([x, to]).toEqual([[0, 2, 4, 5], 5])
  expect(curves[0]?.y).toEqual([0, 25, 50, 50])
})

it('means and shares stand with their intervals; n = 1 has none', () => {
  expect(timeText({ value: 8.2, low: 7.8, high: 8.6, n: 3 })).toBe('8.20 (7.80–8.60) s')
  expect(timeText(null)).toBe('–')
  expect(shareText({ value: 66.7, low: 20.8, high: 93.9, n: 3 })).toBe('67 % (21–94)')
  expect(shareText({ value: 1, low: null, high: null, n: 1 }, 100)).toBe('100 %')
})
