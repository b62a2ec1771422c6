import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { CampaignStatistics, Outlier } from '@/api/types'
import { serve } from '@/testing/network'
import { IDS, runId, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('three cycles are told what they cannot show, in the same words on both pages', async () => {
  serve()
  renderAt(`/campaigns/${IDS.recorded}?tab=statistics`)
  expect(await screen.findByText(/3 cycles cannot show a difference of levels at 5 %, however large it is: that takes 6/)).toBeTruthy()
  const reading = /in all 3 cycles; a test needs 6/
  expect(screen.getByText(/^HyStart off − HyStart on: .*in all 3 cycles; a test needs 6\.$/)).toBeTruthy()
  expect(screen.queryByRole('group', { name: 'Tests of the primary metrics' })).toBeNull()
  await userEvent.click(screen.getByRole('tab', { name: 'Results' }))
  const differences = await screen.findByRole('group', { name: /^Differences between conditions/ })
  expect(within(differences).getByText(reading)).toBeTruthy()
  expect(within(differences).getAllByText(/×$/).length).toBeGreaterThan(0)
})

it('tests primary metrics where the cycles suffice, and keeps its choice in the address', async () => {
  const statistics = said<CampaignStatistics>('recorded-statistics')
  for (const one of statistics.comparisons) {
    Object.assign(one, { reading: 'higher', level_p: 0.008, shape_p: 0.008, cycles_missing: 0 })
    one.difference.n = 8
  }
  serve({ ...makeWorld(), instead: { [`/campaigns/${IDS.recorded}/statistics`]: statistics } })
  const { router } = renderAt(`/campaigns/${IDS.recorded}?tab=statistics`)
  const tests = await screen.findByRole('group', { name: 'Tests of the primary metrics' })
  expect(within(tests).getByText('Throughput, start-up')).toBeTruthy()
  expect(within(tests).getAllByText('HyStart off higher').length).toBeGreaterThan(0)
  expect(within(tests).getAllByText('0.008').length).toBeGreaterThan(0)
  await userEvent.click(screen.getByRole('combobox', { name: 'Metric' }))
  await userEvent.click(await screen.findByRole('option', { name: 'RTT' }))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ metric: 'rtt_ms' }))
  expect(await screen.findByText(/^With n = 8 a true difference of [\d.]+ ms is seen/)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Download statistics.csv' })).toBeTruthy()
})

it('values that stand out lead to their runs', async () => {
  const statistics = said<CampaignStatistics>('running-statistics')
  const far: Outlier = {
    ...{ run_id: runId('running', 1), link: 'geo-viasat', condition: 'HyStart off', cycle: 1, flow: 1, phase: 'startup' },
    ...{ metric: 'throughput_bps', value: 4e7, median: 8e7, score: 4.1 },
  }
  serve({ ...makeWorld(), instead: { [`/campaigns/${IDS.running}/statistics`]: { ...statistics, outliers: [far] } } })
  renderAt(`/campaigns/${IDS.running}?tab=statistics`)
  const link = within(await screen.findByRole('group', { name: 'Outliers' })).getByRole('link')
  expect([link.textContent, link.getAttribute('href')]).toEqual(['HyStart off, cycle 1', `/runs/${runId('running', 1)}`])
  expect(screen.getByText(/^Flagged, not dropped/)).toBeTruthy()
})

it('without comparisons it says how to get some', async () => {
  serve()
  renderAt(`/campaigns/${IDS.draft}?tab=statistics`)
  expect(await screen.findByText(/^Conditions are compared within a cycle/)).toBeTruthy()
})

it('one condition has nothing to be compared with', async () => {
  serve()
  renderAt(`/campaigns/${IDS.competing}?tab=statistics`)
  expect(await screen.findByText(/^This campaign has one condition/)).toBeTruthy()
  expect(await screen.findByRole('heading', { name: 'Throughput, start-up: every run' })).toBeTruthy()
})

it('a difference is said as times, too, where every cycle has a ratio', async () => {
  serve()
  renderAt(`/campaigns/${IDS.recorded}?tab=statistics`)
  expect(await screen.findByText(/^HyStart off − HyStart on: .*, \d[\d.]* \(\d[\d.]*–\d[\d.]*\) times, /)).toBeTruthy()
})

it('every run is a dot, and its number leads to it', async () => {
  serve()
  renderAt(`/campaigns/${IDS.recorded}?tab=statistics`)
  const heading = await screen.findByRole('heading', { name: 'Throughput, start-up: every run' })
  const series = screen.getByRole('list', { name: 'Series' })
  expect(
    within(series)
      .getAllByRole('button')
      .map((one) => one.textContent?.trim()),
  ).toEqual(['HyStart on (n = 3)', 'HyStart off (n = 3)'])
  expect(heading).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Show the numbers behind Single runs' }))
  const runs = await screen.findByRole('group', { name: 'Single runs: Throughput' })
  expect(within(runs).getAllByRole('link')).toHaveLength(6)
})

it('any condition is the baseline, in the address, on both pages and in the download', async () => {
  const statistics = said<CampaignStatistics>('recorded-statistics')
  const world = makeWorld()
  serve(world)
  const { router } = renderAt(`/campaigns/${IDS.recorded}?tab=statistics`)
  await userEvent.click(await screen.findByRole('combobox', { name: 'Baseline' }))
  for (const one of statistics.comparisons) Object.assign(one, { condition: 'HyStart on', baseline: 'HyStart off' })
  world.instead = { [`/campaigns/${IDS.recorded}/statistics`]: statistics }
  await userEvent.click(await screen.findByRole('option', { name: 'HyStart off' }))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ baseline: 'HyStart off' }))
  expect(await screen.findByText(/^HyStart on − HyStart off: /)).toBeTruthy()
  const download = screen.getByRole('link', { name: 'Download statistics.csv' })
  expect(download.getAttribute('href')).toMatch(/statistics\.csv\?baseline=HyStart%20off$/)
  await userEvent.click(screen.getByRole('tab', { name: 'Results' }))
  const differences = await screen.findByRole('group', { name: /^Differences between conditions/ })
  expect(within(differences).getByText('HyStart on − HyStart off')).toBeTruthy()
})
