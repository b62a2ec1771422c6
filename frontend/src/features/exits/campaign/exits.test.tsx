import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { IDS } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const PAGE = `/campaigns/${IDS.recorded}?tab=exits`

describe('the exits of a campaign', () => {
  it('show Table I per condition, with success, times, intervals and n', async () => {
    serve()
    renderAt(PAGE)
    const table = await screen.findByRole('group', { name: 'Table I per link and condition' })
    const [, on, off] = within(table).getAllByRole('row')
    expect(on?.textContent).toMatch(/^geo-viasat · HyStart on3 of 3 left slow start before a loss: not in the table0–/)
    expect(off?.textContent).toMatch(/^geo-viasat · HyStart off30 % \(0–56\)/)
    expect(off?.textContent?.match(/\([−\d.]+(–| to )[−\d.]+\) s n=3/g)).toHaveLength(5)
    for (const head of ['Capacity', 'cg', 'hr = dp − ex']) expect(within(table).getByRole('columnheader', { name: head })).toBeTruthy()
    expect(screen.getByText(/the curve of SEARCH 1.0 first indicates a full link/)).toBeTruthy()
    expect(screen.getByText(/Capacity by the link's emulated rate x least RTT in flight: 3 runs/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Download exits.csv' }).getAttribute('href')).toContain(`${IDS.recorded}/exits.csv`)
  })

  it('draw a line per chosen detector and print its shares; the choice stands in the address', async () => {
    serve()
    const { router } = renderAt(PAGE)
    const figure = await screen.findByRole('figure')
    const lines = () => figure.querySelectorAll('.recharts-line-curve').length
    await waitFor(() => expect(lines()).toBe(5))
    await userEvent.click(screen.getByRole('button', { name: /^SEARCH 3.1/ }))
    await waitFor(() => expect(lines()).toBe(4))
    const shares = screen.getByRole('group', { name: /^Shares of early/ })
    expect(within(shares).queryByRole('rowheader', { name: 'SEARCH 3.1' })).toBeNull()
    expect(within(shares).getByRole('rowheader', { name: 'SEARCH 4.0, exit rule' })).toBeTruthy()
    expect(router.state.location.search).toHaveProperty('detectors')
  })

  it('say what polls cannot tell, and what to do about it', async () => {
    serve()
    renderAt(`${PAGE}&group=${encodeURIComponent('geo-viasat · HyStart off')}`)
    expect(await screen.findByText(/12 of 17 detectors could not decide/)).toBeTruthy()
  })

  it('are announced before there are any', async () => {
    serve()
    renderAt(`/campaigns/${IDS.draft}?tab=exits`)
    expect(await screen.findByText(/Launch the campaign/)).toBeTruthy()
  })
})

describe('sweeps', () => {
  it('a complete one has four maps with their values printed', async () => {
    serve()
    renderAt(PAGE)
    const success = await screen.findByRole('group', { name: 'Success, %' })
    expect(within(success).getAllByRole('rowheader')).toHaveLength(2)
    expect(within(success).getByRole('rowheader', { name: '3.5' })).toBeTruthy()
    expect(within(success).getAllByRole('cell')[0]?.textContent).toMatch(/^\d+$/)
    for (const name of ['Early, %', 'Late, %', 'Headroom, s']) expect(screen.getByRole('group', { name })).toBeTruthy()
  })

  it('the address restores the axes and what is held', async () => {
    serve()
    renderAt(`${PAGE}&x=threshold_percent&at=${encodeURIComponent('["window_factor=3.5"]')}`)
    const success = await screen.findByRole('group', { name: 'Success, %' })
    expect(within(success).getAllByRole('rowheader')).toHaveLength(2)
    expect((screen.getByRole('combobox', { name: 'window_factor held at' }) as HTMLInputElement).value).toBe('3.5')
  })

  it('a failed one says why', async () => {
    serve()
    renderAt(PAGE)
    expect(await screen.findByText(/A trace failed 5 times/)).toBeTruthy()
  })

  it('a new one is refused in words until its values make sense, then runs to its maps', async () => {
    const world = serve({ ...makeWorld(), sweeps: [] })
    const { cache } = renderAt(PAGE)
    await screen.findByText('No sweep yet')
    await userEvent.click(screen.getByRole('button', { name: 'New sweep' }))
    const dialog = await screen.findByRole('dialog')
    const field = await within(dialog).findByLabelText('window_factor')
    const start = within(dialog).getByRole('button', { name: 'Start sweep' })
    expect(start.hasAttribute('disabled')).toBe(true)
    await userEvent.type(field, '2, 40')
    expect(within(dialog).getByText('window_factor must be from 1 to 10 RTT, not 40')).toBeTruthy()
    expect(start.hasAttribute('disabled')).toBe(true)
    await userEvent.clear(field)
    await userEvent.type(field, '2..4 by 0.5')
    expect(within(dialog).getByText(/^5 parameter sets/)).toBeTruthy()
    await userEvent.click(start)
    expect(await screen.findByRole('progressbar', { name: 'Traces swept' })).toBeTruthy()
    expect(world.sweeps[0]?.grid).toEqual({ window_factor: [2, 2.5, 3, 3.5, 4] })
    for (const _ of [1, 2, 3]) await cache.invalidateQueries()
    expect(await screen.findByRole('group', { name: 'Success, %' })).toBeTruthy()
  })

  it('deleting asks first', async () => {
    const world = serve()
    renderAt(PAGE)
    await userEvent.click((await screen.findAllByRole('button', { name: /^Delete the sweep/ }))[0] as HTMLElement)
    const dialog = await screen.findByRole('dialog')
    expect(world.sweeps).toHaveLength(2)
    await userEvent.click(within(dialog).getByRole('button', { name: 'Delete' }))
    await waitFor(() => expect(world.sweeps).toHaveLength(1))
  })
})
