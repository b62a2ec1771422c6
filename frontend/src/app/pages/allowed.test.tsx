import { screen, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { IDS } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const OWN = ['change_campaign', 'describe_campaign', 'run_campaign', 'delete_campaign', 'share_campaign', 'change_link'] as const

/** As the server answers these roles. */
function worldOf(role: 'viewer' | 'operator') {
  const world = makeWorld()
  if (!world.session) throw new Error('nobody is signed in')
  const any = role === 'viewer' ? ['read' as const] : (['read', 'create_campaign', 'create_link', 'import', 'derive', 'annotate'] as const)
  world.session = { ...world.session, role, may_any: [...any], may_own: role === 'viewer' ? [] : [...OWN] }
  return world
}

const own = (world: ReturnType<typeof makeWorld>, name: keyof typeof IDS, owner_id: string | null) => {
  world.campaigns = world.campaigns.map((campaign) => (campaign.id === IDS[name] ? { ...campaign, owner_id } : campaign))
}

const buttons = (...names: string[]) =>
  names.filter((name) => screen.queryAllByRole('button', { name }).length + screen.queryAllByRole('link', { name }).length > 0)

const VERBS = ['Pause', 'Cancel', 'Share', 'Duplicate', 'Edit notes and tags', 'Add notes or tags']

it('a viewer sees a campaign without what changes it, and why', async () => {
  serve(worldOf('viewer'))
  renderAt(`/campaigns/${IDS.running}`)
  expect(await screen.findByText('Only its owner and admins change this campaign')).toBeTruthy()
  expect(buttons(...VERBS)).toEqual([])
  expect(buttons('Report')).toEqual(['Report'])
})

it('an operator changes its own campaign, and duplicates those of others', async () => {
  const world = worldOf('operator')
  own(world, 'running', 'somebody else')
  serve(world)
  const first = renderAt(`/campaigns/${IDS.running}`)
  await waitFor(() => expect(buttons(...VERBS)).toEqual(['Duplicate']))
  first.unmount()
  own(world, 'running', world.session?.account_id ?? null)
  renderAt(`/campaigns/${IDS.running}`)
  await waitFor(() => expect(buttons('Pause', 'Cancel', 'Share', 'Duplicate')).toEqual(['Pause', 'Cancel', 'Share', 'Duplicate']))
})

it.each([
  ['/campaigns', ['New campaign', 'Import files', 'Quick test'], 'Your role reads; operators measure'],
  [
    '/links',
    ['Add link', 'Change geo-viasat', 'Delete geo-viasat', 'Quick test on geo-viasat'],
    'Your role is read-only; operators add links',
  ],
  ['/agents', ['Add agent'], 'Admins add agents'],
])('what a viewer may not do is not offered on %s', async (place, names, reason) => {
  const world = makeWorld()
  serve(world)
  const admin = renderAt(place)
  await waitFor(() => expect(buttons(...names)).toEqual(names))
  admin.unmount()
  serve(worldOf('viewer'))
  renderAt(place)
  expect(await screen.findByText(reason)).toBeTruthy()
  expect(buttons(...names)).toEqual([])
})

it('a campaign page says when it starts, how often again, and when it is open', async () => {
  const world = makeWorld()
  const clock = { start_at: '2026-12-01 18:00 Europe/Berlin', opening_hours: ['daily 18:00-06:00'] }
  world.campaigns = world.campaigns.map((campaign) =>
    campaign.id === IDS.running
      ? { ...campaign, spec: { ...campaign.spec, timetable: { ...campaign.spec.timetable, ...clock } } }
      : campaign,
  )
  serve(world)
  renderAt(`/campaigns/${IDS.running}`)
  expect(await screen.findByText(/starts at 2026-12-01 18:00 Europe\/Berlin · open daily 18:00-06:00 by each link’s clock/)).toBeTruthy()
})
