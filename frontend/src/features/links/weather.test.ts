import { expect, it } from 'vitest'
import type { WeatherState } from '@/api/types'
import { serviceText } from './weather'

const link = { name: 'roof', latitude: 39.47 }
const place = {
  latitude: 39.47,
  longitude: -0.38,
  links: ['attic', 'roof'],
  due_at: '2026-11-26T05:15:00Z',
  asked_at: '2026-11-26T05:00:00Z',
  taken_at: '2026-11-26T05:00:01Z',
  reading_at: '2026-11-26T04:45:00Z',
  problem: null,
  detail: null,
}
const state: WeatherState = { is_on: true, source: 'open data', host: 'weather.example', every_min: 15, quantities: [], places: [place] }

it('a link says of which moment its values are', () => {
  const said = serviceText(state, link)
  expect(said?.text).toMatch(/^open data: values of .*\. It is asked next at .*\.$/)
  expect(said?.isProblem).toBe(false)
})

it('what is wrong comes before everything else, with its code', () => {
  const failing = { ...place, problem: 'weather_status', detail: 'Answered 500.' }
  const said = serviceText({ ...state, places: [failing] }, link)
  expect(said?.text).toMatch(/^open data: Answered 500\. \(weather_status\)/)
  expect(said?.isProblem).toBe(true)
})

it('a place is waited for, and a link without one is asked to have it', () => {
  expect(serviceText(state, { name: 'new', latitude: 3 })?.text).toBe('open data is asked in a moment.')
  expect(serviceText(state, { name: 'roof', latitude: null })?.text).toContain('give this one a latitude')
})

it('a server that asks nobody says nothing', () => {
  expect(serviceText({ ...state, is_on: false }, link)).toBeNull()
})
