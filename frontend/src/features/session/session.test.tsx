import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('a page behind the sign-in leads there, and back after it', async () => {
  serve({ ...makeWorld(), session: null })
  const { router } = renderAt('/agents')
  await userEvent.type(await screen.findByLabelText(/User name/), 'admin')
  await userEvent.type(screen.getByLabelText(/Password/), 'correct horse battery')
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
  expect(await screen.findByRole('heading', { name: 'Agents' })).toBeTruthy()
  expect(router.state.location.pathname).toBe('/agents')
})

it('a wrong password is said in the words of the server', async () => {
  serve({ ...makeWorld(), session: null })
  renderAt('/login')
  await userEvent.type(await screen.findByLabelText(/User name/), 'admin')
  await userEvent.type(screen.getByLabelText(/Password/), 'wrong')
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
  expect((await screen.findByRole('alert')).textContent).toContain('User name or password is wrong.')
})

it('a sign-in never leads to another site', async () => {
  serve({ ...makeWorld(), session: null })
  const { router } = renderAt('/login?next=//evil.example')
  await screen.findByLabelText(/User name/)
  expect(router.state.location.search).not.toHaveProperty('next', '//evil.example')
})

it('before set-up the sign-in page says where the link is', async () => {
  serve({ ...makeWorld(), session: null, isSetupNeeded: true })
  renderAt('/login')
  expect(await screen.findByText('Set-up comes first')).toBeTruthy()
  expect(screen.getByText('.venv/bin/downlink setup-link')).toBeTruthy()
})

it('set-up takes the token from the fragment and clears the address', async () => {
  window.history.replaceState(null, '', '/setup#dls_secret')
  const world = serve({ ...makeWorld(), session: null, isSetupNeeded: true })
  renderAt('/setup')
  const passwords = await screen.findAllByLabelText(/^Password/)
  expect(window.location.hash).toBe('')
  expect(screen.queryByLabelText(/Set-up token/)).toBeNull()
  for (const field of passwords) await userEvent.type(field, 'correct horse battery')
  await userEvent.click(screen.getByRole('button', { name: 'Make the account' }))
  expect(await screen.findByRole('heading', { name: 'Campaigns' })).toBeTruthy()
  expect(world.isSetupNeeded).toBe(false)
  window.history.replaceState(null, '', '/')
})

it('a session that ends in the middle leads to the sign-in', async () => {
  const world = serve()
  renderAt('/agents')
  await screen.findByText('geo-server-1')
  world.session = null
  await userEvent.click(screen.getByRole('button', { name: 'admin' }))
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Sign out' }))
  expect(await screen.findByRole('button', { name: 'Sign in' })).toBeTruthy()
})

it('a new token is shown once, with a way to copy it', async () => {
  serve()
  renderAt('/tokens')
  await userEvent.type(await screen.findByLabelText(/Name/), 'Export')
  await userEvent.click(screen.getByRole('button', { name: 'Make token' }))
  expect((await screen.findByLabelText('The new token')).textContent).toMatch(/^dlk_/)
  await waitFor(() => expect(screen.getByRole('rowheader', { name: 'Export' })).toBeTruthy())
})

it('another browser is signed out from the list, the own one is marked', async () => {
  const world = serve()
  renderAt('/tokens')
  const table = await screen.findByRole('group', { name: 'Signed-in browsers' })
  expect(within(table).getByText('this one')).toBeTruthy()
  await userEvent.click(within(table).getByRole('button', { name: 'Sign out' }))
  await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Sign out' }))
  await waitFor(() => expect(world.sessions).toHaveLength(1))
})

it('a new password asks for the current one, and signs out other browsers', async () => {
  const world = serve()
  renderAt('/tokens')
  await userEvent.type(await screen.findByLabelText(/^Current password/), 'correct horse battery')
  await userEvent.type(screen.getByLabelText(/^New password \*|^New password$/), 'another walk by the sea')
  await userEvent.type(screen.getByLabelText(/^New password again/), 'another walk by the sea')
  await userEvent.click(screen.getByRole('button', { name: 'Change password' }))
  expect(await screen.findByText(/The password is changed/)).toBeTruthy()
  expect(world.sessions.map(({ is_own }) => is_own)).toEqual([true])
})
