import type { Campaign, ComparedSide } from '@/api/types'

/** So many series can be told apart; the server takes no more. */
export const MAX_SIDES = 8
/** More to choose from at once is no help. */
const MAX_OFFERS = 60

interface Place {
  campaignId: string
  flow?: number
  link: string
  condition: string
}

/** What the address and the API call one flow of one condition on one link of one campaign. */
export const sideText = ({ campaignId, flow = 1, link, condition }: Place) => `${campaignId}/${flow}/${link}/${condition}`

/** The same condition's other flow. */
export function withFlow(side: string, flow: number): string {
  const [id, , ...rest] = side.split('/')
  return [id, flow, ...rest].join('/')
}

/** What the address alone tells of a side, until the server says more: "geo/HyStart on". */
export const placeOf = (side: string) => side.split('/').slice(2).join('/')

type Named = Pick<ComparedSide, 'side' | 'campaign' | 'campaign_id' | 'link' | 'condition' | 'flow' | 'flows' | 'cc'>

const flowText = ({ flow, flows, cc }: Named) => (flows > 1 ? `flow ${flow}${cc ? ` (${cc})` : ''}` : '')

/** What sides may be called by, the shortest first. */
const NAMINGS: ((side: Named) => string[])[] = [
  (side) => [side.condition, flowText(side)],
  (side) => [side.condition, flowText(side), side.link],
  (side) => [side.condition, flowText(side), side.campaign],
  (side) => [side.condition, flowText(side), side.link, side.campaign],
  (side) => [side.condition, flowText(side), side.link, side.campaign, side.campaign_id.slice(0, 8)],
]

/** Names of sides: the condition, and as much of where it is from as tells them apart. */
export function labelSides(sides: readonly Named[]): string[] {
  const all = NAMINGS.map((naming) => sides.map((side) => naming(side).filter(Boolean).join(' · ')))
  return all.find((labels) => new Set(labels).size === sides.length) ?? sides.map(({ side }) => side)
}

export interface Offers {
  group: string
  items: { value: string; label: string }[]
}

type Offered = Pick<Campaign, 'id' | 'name' | 'notes' | 'tags' | 'links' | 'conditions' | 'created_at' | 'counts'>

/** The conditions that fit every word, by campaign: those that have a complete run and are not chosen yet. */
export function offersOf(campaigns: readonly Offered[], words: string, chosen: readonly string[]): Offers[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  let left = MAX_OFFERS
  return campaigns.flatMap((campaign) => {
    const items = fitting(campaign, wanted)
      .filter(({ value }) => !chosen.includes(value))
      .slice(0, left)
    left -= items.length
    const { id, name, created_at } = campaign
    return items.length > 0 ? [{ group: `${name} · ${created_at.slice(0, 10)} · ${id.slice(0, 8)}`, items }] : []
  })
}

/** A word that is in a condition's or a link's name picks those out; any other is of the campaign as a whole. */
function fitting({ id, name, notes, tags, links, conditions, counts }: Offered, wanted: readonly string[]): Offers['items'] {
  if (counts.complete === 0) return []
  const all = links.flatMap((link) =>
    conditions.map((condition) => ({ value: sideText({ campaignId: id, link, condition }), label: `${condition} · ${link}` })),
  )
  const text = [name, notes, ...tags].join(' ').toLowerCase()
  return wanted.reduce((left, word) => {
    const named = left.filter(({ label }) => label.toLowerCase().includes(word))
    return named.length > 0 || !text.includes(word) ? named : left
  }, all)
}

/** What a campaign's own page begins a comparison with: its conditions on its first link where they are few, else the first one. */
export function startOf({ id, links, conditions }: Pick<Campaign, 'id' | 'links' | 'conditions'>): string[] {
  const [link] = links
  if (link === undefined) return []
  const few = conditions.length <= MAX_SIDES / 2 ? conditions : conditions.slice(0, 1)
  return few.map((condition) => sideText({ campaignId: id, link, condition }))
}
