import { expect, it } from 'vitest'
import { clockTicks, clockTitle, momentText, secondsOf, tickText } from './clock'

const at = (text: string) => secondsOf(`2026-01-02T${text}Z`)

it('ticks lie at round hours, no more than there is room for, and midnight has the name of its day', () => {
  const ticks = clockTicks(at('22:10:00'), at('22:10:00') + 24 * 3600, 8)
  expect(ticks.map(tickText)).toEqual(['3 Jan', '03:00', '06:00', '09:00', '12:00', '15:00', '18:00', '21:00'])
})

it.each([600, 3600, 86_400, 30 * 86_400, 400 * 86_400])('over %i s there are ticks, and not too many', (span) => {
  const ticks = clockTicks(at('03:00:00'), at('03:00:00') + span, 7)
  expect(ticks.length).toBeGreaterThanOrEqual(1)
  expect(ticks.length).toBeLessThanOrEqual(8)
  expect(new Set(ticks).size).toBe(ticks.length)
})

it('moments are those of UTC, whatever the zone of the machine', () => {
  expect(momentText(at('03:04:05'))).toBe('2 Jan, 03:04')
  expect(clockTitle(at('03:04:05'), at('23:00:00'))).toBe('Clock time (UTC), 2 Jan 2026')
  expect(clockTitle(at('03:04:05'), at('23:00:00') + 7200)).toBe('Clock time (UTC), 2 Jan 2026 to 3 Jan 2026')
})
