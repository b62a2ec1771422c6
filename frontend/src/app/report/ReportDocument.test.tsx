import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { CampaignDay } from '@/api/types'
import { numberedId } from '@/testing/ids'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('a report has every part, numbered figures with captions, and runs that failed with their reason', async () => {
  const day = said<CampaignDay>('recorded-day')
  const [first] = day.runs
  if (!first) throw new Error('runs are recorded')
  const failed = { ...first, id: numberedId(), state: 'failed' as const, reason: 'connect_failed', detail: 'no answer', values: [] }
  serve({ ...makeWorld(), instead: { [`/campaigns/${IDS.recorded}/day`]: { ...day, runs: [...day.runs, failed] } } })
  renderAt(`/campaigns/${IDS.recorded}/report`)
  const report = await screen.findByRole('article', { name: /^Report of / })
  expect(
    within(report)
      .getAllByRole('heading', { level: 2 })
      .map(({ textContent }) => textContent),
  ).toEqual([...['Question', 'Method', 'Links', 'Conditions and settings', 'Runs', 'Results', 'Failures', 'Limits of the study']])
  const figures = within(report).getAllByRole('figure')
  expect(figures.length).toBeGreaterThan(3)
  expect(figures[0]?.textContent).toContain('Figure 1.')
  expect(within(report).getByText('connect_failed: no answer')).toBeTruthy()
  expect(within(report).getByRole('button', { name: 'Print or save as PDF' })).toBeTruthy()
  expect(within(report).getByRole('link', { name: 'Back to the campaign' })).toBeTruthy()
})

it('of a campaign with more runs than are asked for it says of which its tables are, and that others failed', async () => {
  const day = said<CampaignDay>('recorded-day')
  const world = makeWorld()
  const campaign = world.campaigns.find(({ id }) => id === IDS.recorded)
  if (!campaign) throw new Error('there is a recorded campaign')
  Object.assign(campaign, { counts: { ...campaign.counts, failed: 2, missed: 1 } })
  serve({ ...world, instead: { [`/campaigns/${IDS.recorded}/day`]: { ...day, total: 6_000 } } })
  renderAt(`/campaigns/${IDS.recorded}/report`)
  const report = await screen.findByRole('article', { name: /^Report of / })
  expect(within(report).getByText('Counted are the first 6 of 6,000 runs; the file runs.csv has them all.')).toBeTruthy()
  expect(within(report).queryByText(/^No run failed/)).toBeNull()
  expect(within(report).getByText('There is none among the first 6 of 6,000 runs.')).toBeTruthy()
  expect(within(report).getByText('3 further runs are in the file runs.csv, with the reason of each.')).toBeTruthy()
})

it('a draft has a report without results, which says so', async () => {
  serve()
  renderAt(`/campaigns/${IDS.draft}/report`)
  expect(await screen.findByText(/There are no results yet/)).toBeTruthy()
  expect(screen.getByText('Nothing has been planned yet.')).toBeTruthy()
})

it('paper is white: printing takes the light colours and gives the own ones back', async () => {
  serve()
  renderAt(`/campaigns/${IDS.draft}/report`)
  await screen.findByText('Nothing has been planned yet.')
  const scheme = () => document.documentElement.getAttribute('data-mantine-color-scheme')
  document.documentElement.setAttribute('data-mantine-color-scheme', 'dark')
  window.dispatchEvent(new Event('beforeprint'))
  expect(scheme()).toBe('light')
  window.dispatchEvent(new Event('afterprint'))
  expect(scheme()).toBe('dark')
})
