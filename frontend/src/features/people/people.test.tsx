import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('an invitation is made for one person with one role, and its link is shown', async () => {
  serve()
  renderAt('/people')
  await userEvent.click(await screen.findByRole('button', { name: 'Make an invitation' }))
  expect(screen.getByText('Say whom you invite')).toBeTruthy()
  await userEvent.type(screen.getByLabelText(/Whom/), 'Olga Example')
  await userEvent.click(screen.getByRole('button', { name: 'Make an invitation' }))
  expect((await screen.findByLabelText('The invitation')).textContent).toMatch(/\/invited#dli_/)
})

it('accounts, open invitations and the record of changes are listed', async () => {
  serve()
  renderAt('/people')
  const accounts = within(await screen.findByRole('group', { name: 'Accounts' }))
  expect(accounts.getByRole('rowheader', { name: 'admin (you)' })).toBeTruthy()
  expect(accounts.getByRole('combobox', { name: 'Role of vera' })).toHaveProperty('value', 'viewer')
  expect(within(await screen.findByRole('group', { name: 'Open invitations' })).getByText('an account as operator')).toBeTruthy()
  const record = within(await screen.findByRole('group', { name: 'Record of changes' }))
  expect(record.getByText('vera as viewer')).toBeTruthy()
  expect(record.getByText('vera (user)')).toBeTruthy()
})

it('what the server refuses is said beside the account', async () => {
  const world = makeWorld()
  serve(world)
  renderAt('/people')
  const role = await screen.findByRole('combobox', { name: 'Role of vera' })
  world.instead['/accounts'] = null
  await userEvent.click(role)
  await userEvent.click(await screen.findByRole('option', { name: 'operator' }))
  expect(await screen.findByRole('alert')).toBeTruthy()
})

it('the menu leads admins to the people, and nobody else', async () => {
  const world = serve()
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'admin' }))
  expect(await screen.findByRole('menuitem', { name: 'People' })).toBeTruthy()
  if (world.session) world.session = { ...world.session, role: 'viewer' }
})

it('viewers are not led to the people', async () => {
  const world = makeWorld()
  if (world.session) world.session = { ...world.session, role: 'viewer' }
  serve(world)
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'admin' }))
  await screen.findByRole('menuitem', { name: 'Access' })
  expect(screen.queryByRole('menuitem', { name: 'People' })).toBeNull()
})

it('an invitation makes an account and signs in; its secret leaves the address', async () => {
  window.history.replaceState(null, '', '/invited#dli_secret')
  serve({ ...makeWorld() })
  renderAt('/invited')
  expect(await screen.findByText('Make your account, as operator.')).toBeTruthy()
  expect(window.location.hash).toBe('')
  await userEvent.type(screen.getByLabelText(/User name/), 'vera')
  for (const field of screen.getAllByLabelText(/^Password/)) await userEvent.type(field, 'correct horse battery')
  await userEvent.click(screen.getByRole('button', { name: 'Make the account' }))
  await waitFor(() => expect(screen.getByRole('heading', { name: 'Campaigns' })).toBeTruthy())
  window.history.replaceState(null, '', '/')
})
