import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { CampaignLimits } from '@/api/types'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

/** The recorded campaign with these buffers in every condition. */
function serveWith(sender: Record<string, string>, receiver: Record<string, string>) {
  const world = makeWorld()
  const campaign = world.campaigns.find(({ id }) => id === IDS.recorded)
  for (const condition of campaign?.spec.conditions ?? []) Object.assign(condition, { sender, receiver })
  serve(world)
  renderAt(`/campaigns/${IDS.recorded}?tab=limits`)
}

it('shows what held each condition, and the buffers to set', async () => {
  serveWith({ 'net.ipv4.tcp_wmem': '4096 16384 60000000' }, {})
  const table = await screen.findByRole('group', { name: 'What limited the flows' })
  const row = within(table).getByRole('rowheader', { name: 'HyStart off' }).closest('tr') as HTMLElement
  expect(within(row).getByText(/^20\.9 \(/)).toBeTruthy()
  expect(screen.getByLabelText('Command for the receiver').textContent).toBe('sysctl -w net.ipv4.tcp_rmem="4096 131072 25141248"')
})

it('says that buffers suffice where every condition had them', async () => {
  serveWith({ 'net.ipv4.tcp_wmem': '4096 16384 70000000' }, { 'net.ipv4.tcp_rmem': '4096 131072 60000000' })
  expect(await screen.findByText(/could grow to 60.0 MB or more: they need no change/)).toBeTruthy()
  expect(screen.queryByLabelText('Command for the receiver')).toBeNull()
})

it('a path that holds less than buffers start with needs no command', async () => {
  const world = makeWorld()
  const limits = said<CampaignLimits>('recorded-limits')
  const advice = limits.advice.map((one) => ({ ...one, bdp_bytes: 596, max_bytes: 131_072 }))
  world.instead[`/campaigns/${IDS.recorded}/limits`] = { ...limits, advice }
  serve(world)
  renderAt(`/campaigns/${IDS.recorded}?tab=limits`)
  expect(await screen.findByText('The path held 596 B in flight. Buffers that start with 131 kB need not grow for that.')).toBeTruthy()
  expect(screen.queryByLabelText('Command for the receiver')).toBeNull()
})
