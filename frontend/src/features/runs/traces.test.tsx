import { MantineProvider } from '@mantine/core'
import { render, screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { Run } from '@/api/types'
import { said } from '@/testing/recordings'
import { TracesTab } from './TracesTab'

const draw = (run: Run) =>
  render(
    <MantineProvider>
      <TracesTab run={run} />
    </MantineProvider>,
  )
const ends = () => screen.getAllByRole('row').slice(1)

it('each trace of a flow is listed with its files, the table of an emulated link’s sites among them', () => {
  const run = said<Run>('acks-run-1')
  const [flow] = run.flows
  if (!flow) throw new Error('the recorded run has a flow')
  const before = draw(run)
  const count = ends().length
  expect(screen.queryByText('sites')).toBeNull()
  before.unmount()
  flow.sites = { ...flow.traces.sender, samples: 12_345, achieved_rate_hz: null, lateness_mean_us: null, lateness_max_us: null }
  draw(run)
  expect(ends()).toHaveLength(count + 1)
  const last = within(ends().at(-1) as HTMLElement)
  expect(last.getByText('12,345')).toBeTruthy()
  const files = last.getAllByRole('link').map((link) => link.getAttribute('href'))
  expect(files).toEqual(['parquet', 'csv'].map((kind) => `/api/v1/runs/${run.id}/traces/1/sites.${kind}`))
})
