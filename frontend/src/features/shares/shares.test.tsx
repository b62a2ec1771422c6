import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { HttpResponse, http } from 'msw'
import { expect, it } from 'vitest'
import { serve, server } from '@/testing/network'
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
  expect(await screen.findByText(/what comes after the # is its key/)).toBeTruthy()
})

it('a link that fails can be tried again, and a second one in the same tab is opened', async () => {
  serve({ ...makeWorld(), session: null })
  const asked: string[] = []
  server.use(
    http.post('*/api/v1/shares/open', async ({ request }) => {
      const { secret } = (await request.json()) as { secret: string }
      asked.push(secret)
      return secret === 'second'
        ? HttpResponse.json({ campaign_id: IDS.recorded, campaign: 'Shared', expires_at: '2030-01-01T00:00:00Z' })
        : HttpResponse.json({ code: 'share_ended', message: 'This link works no more.', details: {} }, { status: 401 })
    }),
  )
  window.location.hash = '#first'
  const { router } = renderAt('/shared')
  await userEvent.click(await screen.findByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(asked).toEqual(['first', 'first']))
  await screen.findByRole('alert')
  expect(window.location.hash).toBe('')
  window.location.hash = '#second'
  await screen.findByRole('article', { name: /^Report of / })
  expect(asked).toEqual(['first', 'first', 'second'])
  expect(window.location.hash).toBe('')
  expect(router.state.location.pathname).toBe(`/shared/${IDS.recorded}`)
})
