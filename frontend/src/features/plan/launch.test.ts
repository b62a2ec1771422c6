import { expect, it } from 'vitest'
import type { Link } from '@/api/types'
import { allowanceTexts, launchText } from './launch'

const NOW = Date.parse('2026-01-02T03:00:00Z')
const plan = (links: string[], trigger?: object) =>
  ({ campaign: { links, trigger }, estimate: { runs: 288, bytes: 88e9, duration_s: 86_400 } }) as unknown as Parameters<
    typeof launchText
  >[0]
const link = (name: string, allowance_bytes: number | null, month: Link['month'] = null) => ({ name, allowance_bytes, month }) as Link

it('a launch is told with its runs, its end and its volume', () => {
  expect(launchText(plan(['geo']), NOW)).toBe('288 runs, until about 3 Jan, 03:00 UTC, and at most about 88.0 GB.')
  expect(launchText(plan(['geo'], {}), NOW)).toBe('Each firing plans 288 runs of 1 d in all, at most about 88.0 GB.')
})

it('each link with an allowance is told its share', () => {
  const month = { left_bytes: 100e9, resets_at: '2026-02-01T00:00:00Z' } as NonNullable<Link['month']>
  expect(allowanceTexts(plan(['geo', 'leo']), [link('geo', 150e9, month), link('leo', null), link('other', 1e9)])).toEqual([
    'On geo: about 44 % of the 100 GB left of its allowance until 1 Feb, 00:00 UTC.',
  ])
  expect(allowanceTexts(plan(['geo']), [link('geo', 150e9, { ...month, left_bytes: 0 })])).toEqual([
    'On geo: about 88.0 GB, more than the 0 B left of its allowance until 1 Feb, 00:00 UTC.',
  ])
})
