import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { runId } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'

it('a complete run shows asked and actual, its charts, and where it belongs', async () => {
  serve()
  renderAt(`/runs/${runId('recorded', 0)}`)
  expect(await screen.findByRole('heading', { name: 'HyStart on, cycle 1' })).toBeTruthy()
  expect(screen.getByText(/run 1 of 2 in its cycle/)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Demo: HyStart on and off' }).getAttribute('href')).toContain('tab=runs')
  expect(screen.getByText('cubic, as asked')).toBeTruthy()
  expect(await screen.findAllByRole('figure')).toHaveLength(6)
})

it('the runs before and after it are one click away, on the same tab', async () => {
  serve()
  const { router } = renderAt(`/runs/${runId('running', 0)}?tab=events`)
  await userEvent.click(await screen.findByRole('link', { name: 'Next run →' }))
  expect(await screen.findByRole('heading', { name: 'HyStart off, cycle 1' })).toBeTruthy()
  expect(router.state.location.search).toEqual({ tab: 'events' })
  await userEvent.click(screen.getByRole('link', { name: '← Previous run' }))
  expect(await screen.findByRole('heading', { name: 'HyStart on, cycle 1' })).toBeTruthy()
  expect(screen.queryByRole('link', { name: '← Previous run' })).toBeNull()
})

it('events have milliseconds, and say when the transfer began', async () => {
  serve()
  renderAt(`/runs/${runId('running', 0)}?tab=events`)
  expect((await screen.findAllByText(/:\d\d\.\d{3} UTC$/)).length).toBeGreaterThan(5)
  expect(screen.getByText(/^The transfer began at .*\.\d{3} UTC, the moment that “running” agreed on\.$/)).toBeTruthy()
})

it('a flow tells how it was recorded, and what is missing in the record', async () => {
  serve()
  renderAt(`/runs/${runId('acks', 1)}`)
  const flows = await screen.findByRole('group', { name: 'Flows' })
  expect(within(flows).getByText('every ACK, 200 a second')).toBeTruthy()
  expect(within(flows).getByText(/12 ACKs not recorded/)).toBeTruthy()
  expect(within(flows).getByText('HyStart ended no slow start')).toBeTruthy()
})

it('a failed run says why before anything else', async () => {
  serve()
  renderAt(`/runs/${runId('running', 2)}`)
  expect((await screen.findByRole('alert')).textContent).toContain('was restarted during the run')
  expect(await screen.findByText('No series')).toBeTruthy()
})

it('settings stand side by side: asked, before, during, after', async () => {
  serve()
  renderAt(`/runs/${runId('running', 1)}?tab=settings`)
  const table = (await screen.findByLabelText('Settings of geo-server-1')).querySelector('table') as HTMLElement
  const row = within(table).getByRole('rowheader', { name: 'tcp_cubic.hystart' }).closest('tr') as HTMLElement
  expect(
    within(row)
      .getAllByRole('cell')
      .map((cell) => cell.textContent),
  ).toEqual(['0', '7', '0', '7'])
})

it('a sealed trace can be downloaded as Parquet and CSV, an expected one cannot', async () => {
  serve()
  const { unmount } = renderAt(`/runs/${runId('running', 0)}?tab=traces`)
  expect(await screen.findAllByRole('link', { name: /Download the trace/ })).toHaveLength(4)
  unmount()
  renderAt(`/runs/${runId('running', 5)}?tab=traces`)
  await screen.findByRole('group', { name: 'Traces' })
  expect(screen.queryByRole('link', { name: /Download the trace/ })).toBeNull()
})

it('a run that does not exist says so in the words of the server', async () => {
  serve()
  renderAt('/runs/01890a5d-0000-774b-9000-000000000000')
  expect((await screen.findByRole('alert')).textContent).toContain('There is no run')
})
