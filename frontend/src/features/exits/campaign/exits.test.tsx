import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { IDS } from '@/testing/examples'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const PAGE = `/campaigns/${IDS.recorded}?tab=exits`

describe('the exits of a campaign', () => {
  it('show Table I per condition, with success, times, intervals and n', async () => {
    serve()
    renderAt(PAGE)
    const table = await screen.findByRole('group', { name: 'Table I per link and condition' })
    const [, on, common, off] = within(table).getAllByRole('row')
    expect(on?.textContent).toMatch(/^geo-viasat · HyStart on1 of 3 left slow start before a loss: not in the table367 % \(21–94\)/)
    expect(on?.textContent?.match(/\([−\d.]+(–| to )[−\d.]+\) s n=3/g)).toHaveLength(6)
    expect(on?.textContent).toContain('successes: 0.8')
    expect(common?.textContent).toMatch(/^the same over the runs with cg, ex and dp2/)
    expect(common?.textContent?.match(/\([−\d.]+(–| to )[−\d.]+\) s n=2/g)).toHaveLength(4)
    expect(off?.textContent).toContain('–')
    for (const head of ['Capacity', 'cg', 'hr = dp − ex']) expect(within(table).getByRole('columnheader', { name: head })).toBeTruthy()
    expect(screen.getByText(/the curve of SEARCH 1.0 first says that the link is full/)).toBeTruthy()
    expect(screen.getByText(/Capacity by the link's emulated rate x least RTT in flight: 3 runs/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Download exits.csv' }).getAttribute('href')).toContain(`${IDS.recorded}/exits.csv`)
  })

  it('draw a line per chosen detector and print its shares; the choice stands in the address', async () => {
    serve()
    const { router } = renderAt(PAGE)
    const figure = await screen.findByRole('figure')
    const lines = () => figure.querySelectorAll('.recharts-line-curve').length
    await waitFor(() => expect(lines()).toBe(8))
    await userEvent.click(screen.getByRole('button', { name: /^SEARCH 3.1/ }))
    await waitFor(() => expect(lines()).toBe(7))
    const shares = screen.getByRole('group', { name: /^Shares of early/ })
    expect(within(shares).queryByRole('rowheader', { name: 'SEARCH 3.1' })).toBeNull()
    expect(within(shares).getByRole('rowheader', { name: 'SEARCH 4.0, exit rule' })).toBeTruthy()
    expect(router.state.location.search).toHaveProperty('detectors')
  })

  it('say what polls cannot tell, and what to do about it', async () => {
    serve()
    renderAt(`${PAGE}&group=${encodeURIComponent('geo-viasat · HyStart off')}`)
    expect(await screen.findByText(/7 of 12 detectors could not decide/)).toBeTruthy()
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
    expect(within(success).getAllByRole('rowheader')).toHaveLength(6)
    expect(within(success).getByRole('rowheader', { name: '35' })).toBeTruthy()
    expect(within(success).getAllByRole('cell')[0]?.textContent).toMatch(/^\d+$/)
    for (const name of ['Early, %', 'Late, %', 'Headroom, s']) expect(screen.getByRole('group', { name })).toBeTruthy()
  })

  it('the address restores the axes and what is held', async () => {
    serve()
    renderAt(`${PAGE}&x=threshold_percent&at=${encodeURIComponent('["bins=20"]')}`)
    const success = await screen.findByRole('group', { name: 'Success, %' })
    expect(within(success).getAllByRole('rowheader')).toHaveLength(5)
    expect((screen.getByRole('combobox', { name: 'bins held at' }) as HTMLInputElement).value).toBe('20')
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
    const field = await within(dialog).findByLabelText('threshold_percent')
    const start = within(dialog).getByRole('button', { name: 'Start sweep' })
    expect(start.hasAttribute('disabled')).toBe(true)
    await userEvent.type(field, '20, 400')
    expect(within(dialog).getByText('threshold_percent must be from 1 to 100 %, not 400')).toBeTruthy()
    expect(start.hasAttribute('disabled')).toBe(true)
    await userEvent.clear(field)
    await userEvent.type(field, '20..40 by 5')
    expect(within(dialog).getByText(/^5 parameter sets/)).toBeTruthy()
    await userEvent.click(start)
    expect(await screen.findByRole('progressbar', { name: 'Traces swept' })).toBeTruthy()
    expect(world.sweeps[0]?.grid).toEqual({ threshold_percent: [20, 25, 30, 35, 40] })
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
