import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { IDS, runId } from '@/testing/recordings'
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
  expect(screen.getByText(/^Data transfer started at .*\.\d{3} UTC \(agreed start time\)\.$/)).toBeTruthy()
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

describe('the verbs of runs', () => {
  it('a failed attempt that was tried again says where, and is not run again', async () => {
    serve()
    renderAt(`/runs/${runId('running', 2)}`)
    const link = await screen.findByRole('link', { name: 'A later attempt has taken its place' })
    expect(link.getAttribute('href')).toBe(`/runs/${runId('running', 3)}`)
    expect(screen.queryByRole('button', { name: 'Run again' })).toBeNull()
  })

  it('the last attempt that failed is run again, and the new one opened', async () => {
    const world = serve()
    const run = world.runs[IDS.running]?.find(({ id }) => id === runId('running', 3))
    Object.assign(run ?? {}, { state: 'failed', reason: 'port_failed', detail: 'Its port is taken.', is_repeatable: true })
    const { router } = renderAt(`/runs/${runId('running', 3)}`)
    await userEvent.click(await screen.findByRole('button', { name: 'Run again' }))
    const made = world.runs[IDS.running]?.at(-1)
    expect(made?.attempt).toBe(3)
    await waitFor(() => expect(router.state.location.pathname).toBe(`/runs/${made?.id}`))
  })

  it('the list runs one again and cancels one', async () => {
    const world = serve()
    Object.assign(world.runs[IDS.running]?.[0] ?? {}, { state: 'failed' })
    renderAt(`/campaigns/${IDS.running}?tab=runs`)
    const table = await screen.findByRole('table', { name: 'Runs' })
    await userEvent.click(within(table).getByRole('button', { name: 'Run again: HyStart on, cycle 1' }))
    expect(await within(table).findByRole('link', { name: 'HyStart on, cycle 1, attempt 2' })).toBeTruthy()
    const [cancel] = within(table).getAllByRole('button', { name: 'Cancel: HyStart off, cycle 3' })
    await userEvent.click(cancel as HTMLElement)
    await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(world.runs[IDS.running]?.some(({ state }) => state === 'cancelled')).toBe(true))
  })

  it('a complete campaign says what running its failed runs again means before it does so', async () => {
    const world = serve()
    const campaign = world.campaigns.find(({ id }) => id === IDS.running)
    Object.assign(campaign ?? {}, { state: 'complete' })
    Object.assign(world.runs[IDS.running]?.[0] ?? {}, { state: 'failed' })
    renderAt(`/campaigns/${IDS.running}?tab=runs`)
    await userEvent.click(await screen.findByRole('button', { name: 'Run failed again' }))
    const dialog = await screen.findByRole('dialog', { name: 'Run 1 run again?' })
    expect(dialog.textContent).toContain('The campaign resumes')
    await userEvent.click(within(dialog).getByRole('button', { name: 'Run failed again' }))
    await waitFor(() => expect(world.runs[IDS.running]?.some(({ attempt, cycle }) => attempt === 2 && cycle === 1)).toBe(true))
  })

  it('what was not measured here is neither cancelled nor run again', async () => {
    serve()
    renderAt(`/campaigns/${IDS.imported}?tab=runs`)
    await screen.findByRole('table', { name: 'Runs' })
    expect(screen.queryByRole('button', { name: /Run again|Cancel/ })).toBeNull()
  })
})
