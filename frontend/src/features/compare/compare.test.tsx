import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { HttpResponse, http } from 'msw'
import { expect, it } from 'vitest'
import type { CampaignsCompared } from '@/api/types'
import { figureCsv, figureSvg } from '@/charts/figure'
import { MEASURES } from '@/lib/quantities'
import { serve, server } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { against, effectSentence, unpairedFigure } from './compared'
import { sideText } from './sides'

const data = said<CampaignsCompared>('compared')
const chosen = data.sides.map(({ side }) => side)
const address = `/compare?side=${encodeURIComponent(JSON.stringify(chosen))}`

it('without a choice it says what to do, and offers conditions by search and keyboard', async () => {
  serve()
  const { router } = renderAt('/compare')
  expect(await screen.findByText('Nothing is chosen yet')).toBeTruthy()
  const search = screen.getByRole('combobox', { name: 'Add a condition' })
  await userEvent.type(search, 'demo hystart off')
  await screen.findByRole('option', { name: 'HyStart off · geo-viasat' })
  await waitFor(async () => {
    await userEvent.keyboard('{ArrowDown}') // what is found may still be on its way into the list
    expect(search.getAttribute('aria-activedescendant')).toBeTruthy()
  })
  await userEvent.keyboard('{Enter}')
  const added = sideText({ campaignId: IDS.recorded, link: 'geo-viasat', condition: 'HyStart off' })
  await waitFor(() => expect(router.state.location.search).toMatchObject({ side: [added] }))
})

it('three campaigns are beside each other with their differences and all that is not alike', async () => {
  serve()
  const { router } = renderAt(address)
  const sides = await screen.findByRole('radiogroup', { name: 'Baseline' })
  await within(sides).findByText(/link geo-viasat, 3 runs/)
  expect(within(sides).getByRole('radio', { name: /^HyStart on/, checked: true })).toBeTruthy()
  expect(screen.getByText(/not paired, and nothing is tested/)).toBeTruthy()
  expect(screen.getByText(/n = 1 against 3\. One run has no interval\.$/, { selector: 'li:first-child' })).toBeTruthy()
  expect(screen.getByText(new RegExp(`^${data.unlike.length} things: analysis 3, link 4`))).toBeTruthy()
  expect(await screen.findByRole('table', { name: /^Series and their values/ })).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Download comparison.csv' }).getAttribute('href')).toContain('baseline=')
  await userEvent.click(within(sides).getByRole('radio', { name: /imported/ }))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ side: chosen, baseline: chosen[2] }))
  await userEvent.click(within(sides).getByRole('button', { name: /^Take away .*imported/ }))
  await waitFor(() => expect(router.state.location.search).toEqual(expect.objectContaining({ side: chosen.slice(0, 2) })))
  expect(router.state.location.search).not.toHaveProperty('baseline', chosen[2])
  router.history.back()
  await waitFor(() => expect(router.state.location.search).toMatchObject({ side: chosen }))
})

it('differences are named after the baseline that they were computed with, until those of another have come', async () => {
  serve()
  let send = () => {}
  const sent = new Promise<void>((resolve) => {
    send = resolve
  })
  server.use(
    http.get('*/api/v1/comparison', async ({ request }) => {
      const baseline = new URL(request.url).searchParams.get('baseline') ?? ''
      if (baseline === chosen[2]) await sent
      return HttpResponse.json({ ...data, baseline } as object)
    }),
  )
  const { router } = renderAt(address)
  await screen.findByRole('heading', { name: /difference to HyStart on/ })
  await userEvent.click(screen.getByRole('radio', { name: /imported/ }))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ baseline: chosen[2] }))
  expect(screen.getByRole('radio', { name: /imported/, checked: true })).toBeTruthy()
  expect(screen.getByRole('heading', { name: /difference to HyStart on/ })).toBeTruthy()
  send()
  expect(await screen.findByRole('heading', { name: /difference to .*imported/ })).toBeTruthy()
})

it('a campaign leads there with its conditions', async () => {
  serve()
  renderAt(`/campaigns/${IDS.recorded}`)
  const link = await screen.findByRole('link', { name: 'Compare with …' })
  expect(decodeURIComponent(link.getAttribute('href') ?? '').replaceAll('+', ' ')).toContain(`${IDS.recorded}/1/geo-viasat/HyStart off`)
})

it('what is taken away says how it was compared, and has the numbers of the page', () => {
  const [compared] = data.compared.filter(({ metric }) => metric === 'throughput_bps')
  const [measure] = MEASURES
  if (!compared || !measure) throw new Error('the example has throughput')
  const labels = ['on', 'off', 'field']
  const [off] = against(compared, labels)
  if (!off) throw new Error('two are no baseline')
  expect(effectSentence(off, measure)).toMatch(/^−5\.41 Mb\/s, [\d.]+ times; n = 1 against 3\. One run has no interval\.$/)
  const source = { campaign: 'comparison', campaigns: ['A', 'B'] }
  const figure = unpairedFigure({ compared, labels, baseline: 'on', measure, source })
  expect(figure.caption).toBe(
    "Difference of means over runs with Welch's 95 % interval; runs are not paired, and nothing is tested. n = 1 (off), 1 (field) against 3 runs. Campaigns “A”, “B”.",
  )
  const [heads, line] = figureCsv(figure).split('\r\n')
  expect(heads).toContain('Difference (Mb/s)')
  expect(Number(line?.split(',')[1])).toBeCloseTo((off.difference.mean ?? 0) * 1e-6)
  expect(figureSvg(figure, { width: 'single' })).toContain('Welch')
})
