import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { IDS } from '@/testing/examples'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'

it('shows what held each condition, and the buffers to set', async () => {
  serve()
  renderAt(`/campaigns/${IDS.recorded}?tab=limits`)
  const table = await screen.findByRole('group', { name: 'What limited the flows' })
  const row = within(table).getByRole('rowheader', { name: 'HyStart on' }).closest('tr') as HTMLElement
  expect(within(row).getByText(/^25\.0 ± /)).toBeTruthy()
  expect(screen.getByLabelText('Command for the receiver').textContent).toBe('sysctl -w net.ipv4.tcp_rmem="4096 131072 26869760"')
})

it('a campaign that records every ACK says why there is nothing', async () => {
  serve()
  renderAt(`/campaigns/${IDS.draft}?tab=limits`)
  expect(await screen.findByText(/^Recording every ACK leaves out the counters/)).toBeTruthy()
})
