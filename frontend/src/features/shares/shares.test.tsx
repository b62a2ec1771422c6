import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { IDS } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('a visitor sees report, results and tables, and nothing that can be done', async () => {
  serve({ ...makeWorld(), session: null })
  const { router } = renderAt(`/shared/${IDS.recorded}`)
  await screen.findByRole('article', { name: /^Report of / })
  expect(screen.getAllByRole('tab').map(({ textContent }) => textContent)).toEqual(['Report', 'Results', 'Downloads'])
  expect(screen.queryByRole('navigation')).toBeNull()
  expect(screen.queryByRole('button', { name: /^(Duplicate|Delete|Cancel|Share)$/ })).toBeNull()
  await userEvent.click(screen.getByRole('tab', { name: 'Downloads' }))
  expect(await screen.findByRole('link', { name: 'Download runs.csv' })).toBeTruthy()
  expect(screen.queryByRole('link', { name: 'Download archive.zip' })).toBeNull()
  expect(router.state.location.pathname).toBe(`/shared/${IDS.recorded}`)
})

it('the dialog says that nobody has a link, and asks what one is for', async () => {
  serve({ ...makeWorld(), instead: { [`/campaigns/${IDS.recorded}/shares`]: { items: [], total: 0 } } })
  renderAt(`/campaigns/${IDS.recorded}`)
  await userEvent.click(await screen.findByRole('button', { name: 'Share' }))
  const dialog = await screen.findByRole('dialog', { name: 'Share this campaign' })
  expect(await within(dialog).findByText(/No link to this campaign works/)).toBeTruthy()
  const make = within(dialog).getByRole('button', { name: 'Make link' })
  expect(make).toHaveProperty('disabled', true)
  await userEvent.type(within(dialog).getByRole('textbox', { name: /^For/ }), 'partners')
  expect(make).toHaveProperty('disabled', false)
})

it('a link without its key says that all of it is needed', async () => {
  serve({ ...makeWorld(), session: null })
  renderAt('/shared')
  expect(await screen.findByText(/what stands behind its # is the key/)).toBeTruthy()
})
