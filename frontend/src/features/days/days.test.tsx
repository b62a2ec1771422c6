import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { CampaignDay } from '@/api/types'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
// The tab is loaded when it is opened; on a slow machine that would take the time that a test waits for it.
import './DayTab'

const day = (name: 'running' | 'recorded') => `/campaigns/${IDS[name]}?tab=day`
const runs = said<CampaignDay>('running-day').runs

it('a failed run is listed with its reason and leads to its page', async () => {
  serve()
  renderAt(day('running'))
  const failed = runs.find(({ state }) => state === 'failed')
  expect(await screen.findByRole('region', { name: 'Runs that did not complete' })).toBeTruthy()
  const why = screen.getByText(failed?.detail ?? '')
  expect(why.closest('tr')?.querySelector('a')?.getAttribute('href')).toContain(`/runs/${failed?.id}`)
})

it('by keyboard the slider goes from run to run, says each one, and Enter opens it', async () => {
  serve()
  const { router } = renderAt(day('running'))
  const slider = await screen.findByRole('slider', { name: 'Run' })
  expect(slider.getAttribute('aria-valuetext')).toBe('none')
  fireEvent.change(slider, { target: { value: '2' } })
  expect(slider.getAttribute('aria-valuetext')).toMatch(
    /^HyStart on, cycle 2: 2 Jan, 03:04 UTC, failed, .*was restarted.* Enter opens it\.$/,
  )
  fireEvent.keyDown(slider, { key: 'Enter' })
  await waitFor(() => expect(router.state.location.pathname).toBe(`/runs/${runs[2]?.id}`))
})

it('the metric and the phase are in the address, both ways', async () => {
  serve()
  const { router } = renderAt(`${day('recorded')}&metric=rtt_ms&phase=steady`)
  const metric = (await screen.findByRole('combobox', { name: 'Metric' })) as HTMLInputElement
  expect(metric.value).toBe('RTT')
  expect((screen.getByRole('combobox', { name: 'Phase' }) as HTMLInputElement).value).toBe('Steady state')
  await userEvent.click(metric)
  await userEvent.click(await screen.findByRole('option', { name: 'Goodput' }))
  expect(router.state.location.search).toMatchObject({ tab: 'day', metric: 'goodput_bps', phase: 'steady' })
})

it('a link without a time zone says where to give it one', async () => {
  const world = serve()
  const recorded = said<CampaignDay>('recorded-day')
  const links = recorded.links.map((link) => ({ ...link, time_zone: null, nights: [] }))
  world.instead[`/campaigns/${IDS.recorded}/day`] = { ...recorded, links }
  renderAt(day('recorded'))
  expect(await screen.findByText(/Give the link a time zone on the Links page/)).toBeTruthy()
})

it('a campaign without runs says what to do', async () => {
  serve()
  renderAt(`/campaigns/${IDS.draft}?tab=day`)
  expect(await screen.findByText('No runs yet')).toBeTruthy()
})

it('an annotation is noted in UTC, of the campaign or of its link in every campaign', async () => {
  const world = serve()
  renderAt(day('running'))
  await userEvent.click(await screen.findByRole('button', { name: 'Add annotation' }))
  const form = within(await screen.findByRole('dialog'))
  const save = form.getByRole('button', { name: 'Save annotation' })
  expect((save as HTMLButtonElement).disabled).toBe(true)
  const { from_at, to_at } = said<CampaignDay>('running-day')
  const offered = `${(form.getByLabelText('From, UTC') as HTMLInputElement).value}:00.000Z`
  expect(offered > String(from_at) && offered < String(to_at), 'a moment that the strip shows').toBe(true)
  await userEvent.type(form.getByRole('textbox', { name: 'What happened' }), 'Rain at the dish')
  fireEvent.change(form.getByLabelText('From, UTC'), { target: { value: '2026-01-02T03:04' } })
  await userEvent.click(form.getByRole('combobox', { name: 'Of' }))
  await userEvent.click(await screen.findByRole('option', { name: 'Link geo-viasat, every campaign' }))
  await userEvent.click(save)
  await waitFor(() => expect(world.annotations).toHaveLength(1))
  expect(world.annotations[0]).toMatchObject({
    campaign_id: null,
    link: 'geo-viasat',
    kind: 'weather',
    text: 'Rain at the dish',
    from_at: '2026-01-02T03:04:00Z',
    to_at: null,
  })
})
