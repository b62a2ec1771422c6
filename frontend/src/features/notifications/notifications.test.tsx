import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('a channel is added, and its secret is shown', async () => {
  serve()
  renderAt('/notifications')
  const add = await screen.findByRole('button', { name: 'Add channel' })
  await userEvent.click(add)
  expect(screen.getByText('Give the channel a name')).toBeTruthy()
  expect(screen.getByText('Give an address')).toBeTruthy()
  await userEvent.type(screen.getByLabelText(/^Name/), 'On call')
  await userEvent.type(screen.getByLabelText(/^Address/), 'https://hooks.example/x')
  await userEvent.click(add)
  expect((await screen.findByLabelText('The secret')).textContent).toMatch(/^whsec_/)
})

it('numbers are asked for with their topics alone', async () => {
  serve()
  renderAt('/notifications')
  expect(await screen.findByLabelText('Failures in a row')).toBeTruthy()
  await userEvent.click(screen.getByLabelText('runs fail in a row'))
  expect(screen.queryByLabelText('Failures in a row')).toBeNull()
  expect(screen.getByLabelText('Gone after')).toBeTruthy()
})

it('channels are listed with what they are about and what came of the last notification', async () => {
  serve()
  renderAt('/notifications')
  const table = within(await screen.findByRole('group', { name: 'Channels' }))
  expect(table.getByText('https://chat.example/…')).toBeTruthy()
  expect(table.getByText('ends of campaigns')).toBeTruthy()
  expect(table.getByText('nothing yet')).toBeTruthy()
  expect(table.getByText('given up')).toBeTruthy()
  expect(table.getByText(/DOWNLINK_NOTIFY_ALLOW/)).toBeTruthy()
})

it('a test shows its result', async () => {
  serve()
  renderAt('/notifications')
  await userEvent.click(await screen.findByRole('button', { name: 'Test On call' }))
  expect(await screen.findByText(/^The test did not arrive\. The address leads/)).toBeTruthy()
})

it('what was sent is shown with its outcome', async () => {
  serve()
  renderAt('/notifications')
  await userEvent.click(await screen.findByRole('button', { name: 'What was sent to On call' }))
  const sent = within(await screen.findByRole('group', { name: 'Sent notifications' }))
  expect(sent.getByRole('rowheader', { name: 'Test of notifications' })).toBeTruthy()
})

it('without channels the page says what to do', async () => {
  const world = makeWorld()
  world.instead['/channels'] = { items: [], total: 0, has_mail: false }
  serve(world)
  renderAt('/notifications')
  expect(await screen.findByText('No channels yet')).toBeTruthy()
})

it('the menu leads operators to their notifications, and no viewers', async () => {
  const world = makeWorld()
  serve(world)
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'admin' }))
  expect(await screen.findByRole('menuitem', { name: 'Notifications' })).toBeTruthy()
})

it('viewers are not led to notifications', async () => {
  const world = makeWorld()
  if (world.session) world.session = { ...world.session, role: 'viewer' }
  serve(world)
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'admin' }))
  await screen.findByRole('menuitem', { name: 'Access' })
  expect(screen.queryByRole('menuitem', { name: 'Notifications' })).toBeNull()
})
