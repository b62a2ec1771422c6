import { expect, it } from 'vitest'
import type { RunSeries } from '@/api/types'
import { said } from '@/testing/recordings'
import { knownQuantities } from './series'

it('what no flow has a value of is named instead of drawn', () => {
  const series = said<RunSeries>('recorded-run-1-series')
  const all = knownQuantities(series)
  for (const flow of series.flows) {
    flow.in_flight_bytes = flow.in_flight_bytes.map(() => null)
    flow.rtt_ms = flow.rtt_ms.map(() => null)
  }
  const { known, unknown } = knownQuantities(series)
  expect(unknown).toEqual(['RTT', 'In flight', ...all.unknown])
  expect(known.map(({ title }) => title)).not.toContain('In flight')
  expect(known.length).toBe(all.known.length - 2)
})
