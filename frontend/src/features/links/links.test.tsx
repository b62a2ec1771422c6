import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'

it('a link is listed with its rate, RTT and bandwidth-delay product', async () => {
  serve()
  renderAt('/links')
  const row = (await screen.findByText('geo-viasat')).closest('tr') as HTMLElement
  expect(row.textContent).toContain('144 Mb/s')
  expect(row.textContent).toContain('10.8 MB')
})

it('a link is added in the units that people use', async () => {
  const world = serve()
  renderAt('/links')
  await userEvent.click(await screen.findByRole('button', { name: 'Add link' }))
  const form = within(await screen.findByRole('dialog'))
  await userEvent.type(form.getByRole('textbox', { name: /^Name/ }), 'attic')
  await userEvent.type(form.getByRole('textbox', { name: /^Nominal rate/ }), '50')
  await userEvent.type(form.getByRole('textbox', { name: /^Base RTT/ }), '600')
  await userEvent.click(form.getByRole('combobox', { name: /^Receiver/ }))
  await userEvent.click(await screen.findByRole('option', { name: 'rooftop' }))
  await userEvent.click(form.getByRole('combobox', { name: /^Senders/ }))
  await userEvent.click((await screen.findAllByRole('option', { name: 'geo-server-1' })).at(-1) as HTMLElement)
  await userEvent.click(form.getByRole('combobox', { name: /^Further receivers/ }))
  await userEvent.click((await screen.findAllByRole('option', { name: 'geo-client' })).at(-1) as HTMLElement)
  await userEvent.click(form.getByRole('button', { name: 'Add link' }))
  await waitFor(() => expect(world.links).toHaveLength(3))
  expect(world.links[2]).toMatchObject({
    name: 'attic',
    nominal_rate_bps: 50_000_000,
    base_rtt_ms: 600,
    receiver: 'rooftop',
    senders: ['geo-server-1'],
    relays: [],
    further_receivers: ['geo-client'],
  })
  expect(await screen.findByRole('cell', { name: 'rooftop, geo-client' })).toBeTruthy()
})

it('many further receivers of a link are counted', async () => {
  const world = serve()
  const names = ['a', 'b', 'c'].map((letter) => `receiver-${letter}`)
  world.links = world.links.map((link) => (link.name === 'geo-viasat' ? { ...link, further_receivers: names } : link))
  renderAt('/links')
  expect((await screen.findByText('and 3 further')).title).toBe('receiver-a, receiver-b, receiver-c')
})

it('an empty form says what is missing and sends nothing', async () => {
  const world = serve()
  renderAt('/links')
  await userEvent.click(await screen.findByRole('button', { name: 'Add link' }))
  await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Add link' }))
  expect(await screen.findByText('Give the link a name')).toBeTruthy()
  expect(world.links).toHaveLength(2)
})

it('examples are beside the fields, never in them as if somebody had typed them', async () => {
  serve()
  renderAt('/links')
  await userEvent.click(await screen.findByRole('button', { name: 'Add link' }))
  const rate = within(await screen.findByRole('dialog')).getByRole('textbox', { name: /^Nominal rate/ }) as HTMLInputElement
  expect([rate.value, rate.placeholder]).toEqual(['', ''])
  expect(screen.getByText('For example 144 Mb/s')).toBeTruthy()
})

it('a quick test takes two clicks, says before what it costs, and opens its run', async () => {
  serve()
  const { router } = renderAt('/links')
  await userEvent.click(await screen.findByRole('button', { name: 'Quick test on geo-viasat' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(dialog.getByText(/for 15.s with Cubic: up to 270 MB/)).toBeTruthy()
  await userEvent.click(dialog.getByRole('button', { name: 'Start' }))
  const { run_id } = said<{ run_id: string }>('quick-test-1')
  await waitFor(() => expect(router.state.location.pathname).toBe(`/runs/${run_id}`))
})

it('on the page of campaigns the link is chosen, and what prevents the test is said', async () => {
  const world = serve()
  renderAt('/campaigns')
  await userEvent.click(await screen.findByRole('button', { name: 'Quick test' }))
  const dialog = within(await screen.findByRole('dialog'))
  await userEvent.click(dialog.getByRole('combobox', { name: 'Link' }))
  const other = world.links.find(({ name }) => name !== 'geo-viasat')?.name ?? ''
  await userEvent.click(await screen.findByRole('option', { name: other }))
  await userEvent.click(dialog.getByRole('button', { name: 'Start' }))
  expect((await dialog.findByRole('alert')).textContent).toContain('rooftop is offline')
})
