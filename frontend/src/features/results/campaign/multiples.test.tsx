import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { Report } from '@/api/types'
import { valueAxis } from '@/charts/axis'
import { STACKED } from '@/lib/quantities'
import { serve } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'
import { bandSeries, labelGroups } from './series'
import { chartFacts } from './stack'

/** The recorded report as one of `count` conditions of which throughput alone is known, since a page draws many charts slowly here. */
function serveConditions(count: number) {
  const report = said<Report>('recorded-report')
  for (const { series } of report.groups)
    for (const { name } of STACKED.slice(1)) Object.assign(series[name], { mean: series[name].mean.map(() => null), runs: [] })
  const groups = Array.from({ length: count }, (_, index) => ({
    ...(report.groups[index % 2] as Report['groups'][number]),
    condition: `Buffer ${index}`,
  }))
  serve({ ...makeWorld(), instead: { [`/campaigns/${IDS.recorded}/report`]: { ...report, groups, comparisons: [] } } })
}

it('more conditions than one chart can show stand side by side, and the address keeps another choice', async () => {
  serveConditions(6)
  const { router } = renderAt(`/campaigns/${IDS.recorded}`)
  const columns = await screen.findByRole('list', { name: 'Series side by side' })
  const figures = within(columns).getAllByRole('figure')
  expect(figures.map((figure) => figure.getAttribute('aria-label'))).toEqual(Array.from({ length: 6 }, (_, index) => `Buffer ${index}`))
  await waitFor(() => expect(figures.every((figure) => figure.querySelector('.recharts-line-curve'))).toBe(true))
  await userEvent.click(screen.getByRole('radio', { name: 'In one chart' }))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ layout: 'overlaid' }))
  expect(screen.queryByRole('list', { name: 'Series side by side' })).toBeNull()
})

it('a column stands out while its name in the legend has the focus', async () => {
  serveConditions(5)
  renderAt(`/campaigns/${IDS.recorded}`)
  const columns = await screen.findByRole('list', { name: 'Series side by side' })
  const faded = () => columns.querySelectorAll('li[data-faded]').length
  expect(faded()).toBe(0)
  const legend = screen.getByRole('table', { name: 'Series and their values at the cursor' })
  await userEvent.hover(within(legend).getByRole('button', { name: 'Buffer 2' }))
  expect(faded()).toBe(4)
})

it('few conditions are laid over each other until they are asked to stand side by side', async () => {
  serveConditions(2)
  renderAt(`/campaigns/${IDS.recorded}?layout=columns`)
  expect(await screen.findByRole('list', { name: 'Series side by side' })).toBeTruthy()
  await userEvent.click(screen.getByRole('radio', { name: 'In one chart' }))
  await waitFor(() => expect(screen.queryByRole('list', { name: 'Series side by side' })).toBeNull())
})

it('charts side by side have one axis, which the largest of them decides', () => {
  const groups = labelGroups(said<Report>('recorded-report').groups, 'geo-viasat')
  const shown = { link: undefined, windows: [], from: 0, to: 30, hasBands: false }
  const quantity = STACKED[0] as (typeof STACKED)[number]
  const beside = bandSeries(groups, quantity.name)
  const tops = groups.map((one) => valueAxis(chartFacts(quantity, [one], shown, beside)).scale.max)
  const alone = groups.map((one) => valueAxis(chartFacts(quantity, [one], shown)).scale.max)
  expect(new Set(alone).size).toBe(2)
  expect(tops).toEqual([Math.max(...alone), Math.max(...alone)])
})
