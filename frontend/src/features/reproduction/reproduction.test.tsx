import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { CampaignReproduction } from '@/api/types'
import { serve } from '@/testing/network'
import { said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'
import { oursText } from './table'

it('published and own values stand side by side, with interval, n and whether it holds', async () => {
  serve()
  renderAt('/reproduction')
  const table = await screen.findByRole('group', { name: 'Peters 2021, Figure 6' })
  const row = within(table).getByRole('row', { name: /^1 MB, HyStart off/ })
  const [example] = said<{ items: CampaignReproduction[] }>('reproductions').items
  const value = example?.figures[0]?.values.find(({ name }) => name === '1 MB, HyStart off')
  if (!value) throw new Error('the example has this value')
  expect(row.textContent).toContain('6 s')
  expect(row.textContent).toContain(oursText(value))
  expect(within(row).getByText('outside')).toBeTruthy()
  expect(within(row).getByText('n = 3')).toBeTruthy()
  expect(within(table).getByRole('link', { name: 'Demo: HyStart on and off' })).toBeTruthy()
})

it('without any campaign that names one, it says how', async () => {
  serve({ ...makeWorld(), instead: { '/reproduction': { items: [] } } })
  renderAt('/reproduction')
  expect(await screen.findByText('No campaign names a published figure yet')).toBeTruthy()
  expect(screen.getByText('reproduces')).toBeTruthy()
})
