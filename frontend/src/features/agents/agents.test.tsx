import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('every agent shows what it does and what its host can do', async () => {
  serve()
  renderAt('/agents')
  const card = (await screen.findByRole('heading', { name: 'geo-server-2' })).closest('section') as HTMLElement
  expect(within(card).getByText('uploading 2 of 7')).toBeTruthy()
  expect(within(card).getByText('bbr, cubic, dl_hybla, reno')).toBeTruthy()
  const refused = within(card).getByText('1 cannot run here').closest('details') as HTMLDetailsElement
  expect([refused.open, refused.textContent]).toEqual([false, expect.stringContaining('dl_vivace: this kernel cannot run it')])
  expect(screen.getByText('offline')).toBeTruthy()
})

it('adding one gives the command to paste', async () => {
  serve()
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'Add agent' }))
  expect((await screen.findByLabelText('The join command')).textContent).toContain('downlink-agent join')
})

it('without agents the page says how to get the first', async () => {
  serve({ ...makeWorld(), agents: [] })
  renderAt('/agents')
  expect(await screen.findByText('No agents yet')).toBeTruthy()
})
