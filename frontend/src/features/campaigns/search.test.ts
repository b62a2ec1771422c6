import { expect, it } from 'vitest'
import { isFiltered, parseCampaignsSearch } from './search'

it('what is not understood is left out', () => {
  const search = { q: '', state: 'lost', tag: 'one', link: 3, sort: 'notes', page: 'x' }
  expect(Object.values(parseCampaignsSearch(search)).filter((value) => value !== undefined)).toEqual([])
})

it('what is understood stays, and what holds anyway is not said', () => {
  const search = { q: 2026, state: 'draft', tag: ['GEO'], link: 'leo', sort: '-created_at', page: 1 }
  expect(parseCampaignsSearch(search)).toEqual({ q: '2026', state: 'draft', tag: ['GEO'], link: 'leo', sort: undefined, page: undefined })
  expect(parseCampaignsSearch({ sort: 'name', page: 3 })).toMatchObject({ sort: 'name', page: 3 })
})

it('order and page leave nothing out', () => {
  expect(isFiltered({ sort: 'name', page: 2 })).toBe(false)
  expect(isFiltered({ tag: ['GEO'] })).toBe(true)
})
