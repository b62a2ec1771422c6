import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { IDS, runId } from '@/testing/examples'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'

it('says what the cycles can show, tests distributions, and keeps its choice in the address', async () => {
  serve()
  const { router } = renderAt(`/campaigns/${IDS.recorded}?tab=statistics`)
  expect(await screen.findByText(/^With n = 3 you can see [\d.]+ Mb\/s\./)).toBeTruthy()
  expect(screen.getAllByText('HyStart off − HyStart on').length).toBeGreaterThan(0)
  const tests = screen.getByRole('group', { name: 'Tests of distributions' })
  expect(within(tests).getAllByText('level differs').length).toBeGreaterThan(0)
  expect(within(tests).getAllByText('< 0.001').length).toBeGreaterThan(0)
  await userEvent.click(screen.getByRole('combobox', { name: 'Metric' }))
  await userEvent.click(await screen.findByRole('option', { name: 'RTT' }))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ metric: 'rtt_ms' }))
  expect(await screen.findByText(/^With n = 3 you can see [\d.]+ ms\./)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Download statistics.csv' })).toBeTruthy()
})

it('values that stand out lead to their runs', async () => {
  serve()
  renderAt(`/campaigns/${IDS.running}?tab=statistics`)
  const link = within(await screen.findByRole('group', { name: 'Outliers' })).getByRole('link')
  expect([link.textContent, link.getAttribute('href')]).toEqual(['HyStart off, cycle 1', `/runs/${runId(1)}`])
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
})
