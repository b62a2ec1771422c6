import { expect, it } from 'vitest'
import type { Link } from '@/api/types'
import { allowanceText, bodyOf, checkValues, valuesOf } from './form'

const link: Link = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  name: 'geo-viasat',
  orbit: 'GEO',
  operator: 'Viasat',
  nominal_rate_bps: 144_000_000,
  rate_tolerance_percent: 20,
  base_rtt_ms: 597,
  receiver: 'client',
  senders: ['server-1', 'server-2'],
  relays: ['gateway'],
  further_receivers: ['attic', 'cellar'],
  allowance_bytes: 300_000_000_000,
  reset_day: 15,
  month: { used_bytes: 100_000_000_000, left_bytes: 200_000_000_000, resets_at: '2026-12-15T00:00:00Z' },
  is_emulated: true,
  profile: 'geo-viasat',
  time_zone: 'Europe/Madrid',
  latitude: 39.47,
  longitude: -0.38,
  owner_id: null,
  run_id: null,
  created_at: '2026-01-02T03:04:05Z',
}

it('a link survives the way through the form, units and all', () => {
  const { id: _id, run_id: _run, month: _month, owner_id: _owner, created_at: _at, ...body } = link
  expect(bodyOf(valuesOf(link))).toEqual(body)
})

it('an empty form names every field that is missing', () => {
  expect(Object.keys(checkValues(valuesOf(null))).sort()).toEqual(['base_rtt_ms', 'name', 'rate_mbps', 'receiver', 'senders'])
})

it('one agent cannot stand at both ends', () => {
  expect(checkValues({ ...valuesOf(link), senders: ['client'] })).toHaveProperty('senders')
})

it('an agent has one place on a link', () => {
  expect(checkValues(valuesOf(link))).toEqual({})
  expect(Object.keys(checkValues({ ...valuesOf(link), relays: ['server-2'] }))).toEqual(['relays'])
  for (const name of ['client', 'server-1', 'gateway'])
    expect(Object.keys(checkValues({ ...valuesOf(link), further_receivers: [name] }))).toEqual(['further_receivers'])
})

it('half a place is none', () => {
  expect(checkValues({ ...valuesOf(link), latitude: '' })).toHaveProperty('latitude')
  expect(checkValues({ ...valuesOf(link), longitude: '' })).toHaveProperty('longitude')
  expect(bodyOf({ ...valuesOf(link), latitude: '', longitude: '' })).toMatchObject({ latitude: null, longitude: null })
  expect(bodyOf({ ...valuesOf(link), latitude: 0, longitude: 0 })).toMatchObject({ latitude: 0, longitude: 0 })
})

it('no allowance is null, and a measured link has no profile', () => {
  expect(bodyOf({ ...valuesOf(link), allowance_gb: '', is_emulated: false })).toMatchObject({ allowance_bytes: null, profile: null })
})

it('an allowance says what is left of it', () => {
  expect(allowanceText(link)).toContain('300 GB a month, 200 GB left until ')
  expect(allowanceText({ allowance_bytes: null, month: null })).toBe('no limit')
})
