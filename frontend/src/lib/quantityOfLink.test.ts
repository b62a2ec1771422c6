import { expect, it } from 'vitest'
import { quantityTitle } from './quantityOfLink'

it.each([
  ['dish.obstruction_ratio', 'Dish: obstruction'],
  ['dish.ping_latency_ms', 'Dish: ping latency'],
  ['weather.rain_mm_per_h', 'Weather: rain'],
  ['weather.temperature_c', 'Weather: temperature'],
  ['modem.snr', 'Modem: snr'],
  ['modem.ms', 'Modem: ms'],
])('calls %s "%s": the unit is said beside it', (name, title) => {
  expect(quantityTitle(name)).toBe(title)
})
