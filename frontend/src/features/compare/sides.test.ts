import { expect, it } from 'vitest'
import type { Campaign, CampaignsCompared } from '@/api/types'
import { said } from '@/testing/recordings'
import { labelSides, offersOf, placeOf, sideText, startOf, withFlow } from './sides'

const [first] = said<CampaignsCompared>('compared').sides
if (!first) throw new Error('the example has sides')
const one = { ...first, condition: 'on' }
const campaigns = said<{ items: Campaign[] }>('campaigns').items
const recorded = campaigns.find(({ id }) => id === first.campaign_id)
if (!recorded) throw new Error('the example is of one of the campaigns')

it('names are as short as tells the sides apart', () => {
  const named = (...sides: Partial<typeof first>[]) => labelSides(sides.map((side, index) => ({ ...one, side: `${index}`, ...side })))
  expect(named({}, { condition: 'off' })).toEqual(['on', 'off'])
  expect(named({}, { link: 'leo' })).toEqual(['on · geo-viasat', 'on · leo'])
  expect(named({ campaign: 'May' }, { campaign: 'June' })).toEqual(['on · May', 'on · June'])
  expect(named({ flows: 2, cc: 'bbr' }, { flows: 2, flow: 2 })).toEqual(['on · flow 1 (bbr)', 'on · flow 2 (cubic)'])
  const [may] = named({ campaign: 'May', campaign_id: '0123456789' }, { campaign: 'May', campaign_id: 'abcdefghij' })
  expect(may).toBe('on · geo-viasat · May · 01234567')
  const among = named({ campaign: 'May' }, { link: 'leo', campaign: 'May' }, { campaign: 'June' })
  expect(among).toEqual(['on · geo-viasat · May', 'on · leo · May', 'on · geo-viasat · June'])
})

it('a side keeps slashes of its names, and takes another flow', () => {
  const side = sideText({ campaignId: 'id', link: 'geo', condition: 'on/off' })
  expect([side, withFlow(side, 2), placeOf(side)]).toEqual(['id/1/geo/on/off', 'id/2/geo/on/off', 'geo/on/off'])
})

it('what is offered fits every word, has runs, and is not chosen', () => {
  const labels = (words: string, chosen: string[] = []) =>
    offersOf([recorded], words, chosen).flatMap(({ items }) => items.map(({ label }) => label))
  expect(labels('')).toEqual(['HyStart on · geo-viasat', 'HyStart off · geo-viasat'])
  expect(labels('DEMO off')).toEqual(['HyStart off · geo-viasat'])
  expect(labels('demo moon')).toEqual([])
  expect(labels('', startOf(recorded))).toEqual([])
  expect(offersOf([{ ...recorded, counts: { ...recorded.counts, complete: 0 } }], '', [])).toEqual([])
})

it('a campaign of many conditions begins a comparison with its first one', () => {
  const many = Array.from({ length: 16 }, (_, index) => `buffer ${index}`)
  expect(startOf({ ...recorded, conditions: many })).toEqual([`${recorded.id}/1/geo-viasat/buffer 0`])
  expect(startOf({ ...recorded, links: [] })).toEqual([])
})
