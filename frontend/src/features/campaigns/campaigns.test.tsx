import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { applyLiveEvent } from '@/api/sync'
import type { TriggerState } from '@/api/types'
import { formatNumber, formatSigned } from '@/lib/format'
import { numberedId } from '@/testing/ids'
import { serve, server } from '@/testing/network'
import { IDS, runId } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

describe('the list', () => {
  it('shows state and progress, failed runs, and which campaign is a recorded example', async () => {
    serve()
    renderAt('/campaigns')
    const item = (await screen.findByText('HyStart on and off, now')).closest('a')
    expect(item?.textContent).toContain('4 of 6 runs complete · 1 failed')
    expect(screen.getByText('recorded example')).toBeTruthy()
    expect(screen.getByText('2 runs planned, not launched')).toBeTruthy()
  })

  it('says what to do when there is nothing', async () => {
    serve({ ...makeWorld(), campaigns: [] })
    renderAt('/campaigns')
    expect(await screen.findByText('No campaigns yet')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Choose a template' })).toBeTruthy()
  })

  it('says how far an installation is that begins', async () => {
    const world = makeWorld()
    serve({ ...world, campaigns: [], links: [], agents: world.agents.slice(0, 2) })
    renderAt('/campaigns')
    const steps = await screen.findByRole('list', { name: 'First steps' })
    await waitFor(() => expect(within(steps).getAllByText(/done$/)).toHaveLength(2))
    expect(within(steps).getByText('An agent at each end ✓ done')).toBeTruthy()
    expect(within(steps).getByText('A link between them')).toBeTruthy()
  })

  it('keeps the first steps in sight while there are quick tests alone', async () => {
    const world = makeWorld()
    const [one] = world.campaigns
    if (!one) throw new Error('no campaign was recorded')
    serve({ ...world, campaigns: [{ ...one, quick_link: 'geo-viasat' }] })
    renderAt('/campaigns')
    const steps = await screen.findByRole('list', { name: 'First steps' })
    expect(within(steps).getByText('A quick test ✓ done')).toBeTruthy()
    expect(within(steps).getByText('A campaign')).toBeTruthy()
  })
})

describe('finding campaigns', () => {
  it('the address says what is shown, and typing changes it', async () => {
    serve()
    const { router } = renderAt('/campaigns?state=complete&sort=name')
    expect(await screen.findByText('recorded example')).toBeTruthy()
    expect(screen.queryByText('HyStart on and off, now')).toBeNull()
    await userEvent.type(screen.getByRole('searchbox', { name: 'Search campaigns' }), 'against')
    await waitFor(() => expect(router.state.location.search).toEqual({ q: 'against', state: 'complete', sort: 'name' }))
    expect(await screen.findByText('Cubic against BBR over GEO')).toBeTruthy()
    await waitFor(() => expect(screen.queryByText('recorded example')).toBeNull())
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
    expect(await screen.findByText('HyStart on and off, now')).toBeTruthy()
    expect(router.state.location.search).toEqual({ sort: 'name' })
  })

  it('says that nothing fits, which is not that there is nothing', async () => {
    serve()
    renderAt('/campaigns?q=nowhere')
    expect(await screen.findByText('No campaign fits')).toBeTruthy()
  })

  it('a long list has pages, and another filter begins at the first', async () => {
    const world = makeWorld()
    const [one] = world.campaigns
    if (!one) throw new Error('no campaign was recorded')
    serve({ ...world, campaigns: Array.from({ length: 60 }, (_, n) => ({ ...one, id: numberedId(), name: `Campaign ${n + 1}` })) })
    const { router } = renderAt('/campaigns?page=2')
    expect(await screen.findByText('26 to 50 of 60 campaigns')).toBeTruthy()
    expect(screen.getByText('Campaign 26')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Page 3' }))
    expect(await screen.findByText('Campaign 60')).toBeTruthy()
    expect(router.state.location.search).toEqual({ page: 3 })
    await userEvent.type(screen.getByRole('searchbox', { name: 'Search campaigns' }), '60')
    await waitFor(() => expect(router.state.location.search).toEqual({ q: '60' }))
  })

  it('notes and tags are edited while a campaign runs', async () => {
    const world = serve()
    renderAt(`/campaigns/${IDS.running}`)
    await userEvent.click(await screen.findByRole('button', { name: 'Edit notes and tags' }))
    const dialog = await screen.findByRole('dialog', { name: 'Notes and tags' })
    await userEvent.type(await within(dialog).findByRole('textbox', { name: 'Notes' }), ' Rain from 3 UTC on.')
    await userEvent.type(within(dialog).getByLabelText('Tags', { selector: 'input' }), 'rain{Enter}')
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    const campaign = world.campaigns.find(({ id }) => id === IDS.running)
    expect([campaign?.tags, campaign?.notes.endsWith(' Rain from 3 UTC on.'), campaign?.state]).toEqual([['rain'], true, 'running'])
    expect(await screen.findByText('rain')).toBeTruthy()
  })
})

const lineCount = (figure: HTMLElement) => figure.querySelectorAll('.recharts-line-curve').length
const bandCount = (figure: HTMLElement) => figure.querySelectorAll('.recharts-area-area').length

/** The stack's charts, once they are drawn. */
async function drawnFigures(): Promise<HTMLElement[]> {
  const figures = (await screen.findAllByRole('figure')).slice(0, 5)
  await waitFor(() => expect(Math.min(...figures.map(lineCount))).toBeGreaterThan(0))
  return figures
}

describe('the results', () => {
  it('stack five charts; of three runs each is a line beside the mean, and no band floods the chart', async () => {
    serve()
    renderAt(`/campaigns/${IDS.recorded}`)
    const figures = await drawnFigures()
    expect(figures.map((figure) => figure.textContent?.match(/^[A-Za-z ]+(?= (Mb|ms|MB|%))/)?.[0])).toEqual([
      'Throughput',
      'RTT',
      'Receive window',
      'Congestion window',
      'Retransmissions',
    ])
    for (const figure of figures) expect([lineCount(figure), bandCount(figure)]).toEqual([2 + 2 * 3, 0])
  })

  it('five runs and more have a band', async () => {
    serve()
    renderAt(`/campaigns/${IDS.competing}`)
    const [throughput] = await drawnFigures()
    const lines = lineCount(throughput as HTMLElement)
    expect([lines > 1, bandCount(throughput as HTMLElement)]).toEqual([true, lines])
  })

  it('the readout names the phase that is shown', async () => {
    serve()
    renderAt(`/campaigns/${IDS.recorded}?range=startup`)
    expect(await screen.findByRole('columnheader', { name: /^Mean, start-up/ })).toBeTruthy()
  })

  it('break a line at a gap instead of bridging it', async () => {
    const world = makeWorld()
    for (const { series } of world.reports[IDS.recorded]?.groups ?? []) {
      const { mean, runs } = series.throughput_bps
      for (const line of [mean, ...runs]) line.fill(null, 20, 22)
    }
    serve(world)
    renderAt(`/campaigns/${IDS.recorded}`)
    const [throughput] = await drawnFigures()
    const path = throughput?.querySelector('.recharts-line-curve')?.getAttribute('d') ?? ''
    expect(path.match(/M/g)).toHaveLength(2)
  })

  it('a condition switched off leaves the charts, stays in the legend, and stands in the address', async () => {
    serve()
    const { router } = renderAt(`/campaigns/${IDS.recorded}`)
    const toggle = await screen.findByRole('button', { name: 'HyStart off', pressed: true })
    await userEvent.click(toggle)
    await waitFor(() => expect(lineCount(screen.getAllByRole('figure')[0] as HTMLElement)).toBe(1 + 3))
    expect(screen.getByRole('button', { name: 'HyStart off', pressed: false })).toBeTruthy()
    expect(router.state.location.search).toMatchObject({ hide: ['HyStart off'] })
  })

  it('an address restores the view: no bands, steady state, one condition', async () => {
    serve()
    renderAt(`/campaigns/${IDS.recorded}?band=off&phase=steady&hide=${encodeURIComponent('["HyStart on"]')}`)
    const [throughput] = await drawnFigures()
    expect([lineCount(throughput as HTMLElement), bandCount(throughput as HTMLElement)]).toEqual([1, 0])
    expect(screen.getByText(/Steady state: the last 5 s of a run/)).toBeTruthy()
  })

  it('the numbers behind a chart are one click away, with n', async () => {
    serve()
    renderAt(`/campaigns/${IDS.recorded}`)
    await userEvent.click(await screen.findByRole('button', { name: 'Show the numbers behind RTT' }))
    const table = screen.getByRole('region', { name: /^RTT, ms/ })
    expect(within(table).getAllByRole('row')).toHaveLength(36)
    expect(within(table).getAllByText('n=3').length).toBeGreaterThan(60)
  })

  it('a chart is taken to LaTeX: its numbers as a table, and the lines that include its PDF', async () => {
    const user = userEvent.setup()
    serve()
    renderAt(`/campaigns/${IDS.recorded}`)
    const copied = async (label: string) => {
      await user.click(await screen.findByRole('button', { name: 'Save RTT' }))
      await user.click(await screen.findByRole('menuitem', { name: label }))
      await screen.findByText('Copied')
      return navigator.clipboard.readText()
    }
    expect(await copied('LaTeX, the numbers as a table')).toMatch(/\\toprule\n {4}.*RTT/)
    expect(await copied('LaTeX, the figure in both columns')).toMatch(/\\includegraphics\[width=183mm\]\{.*rtt.*\.pdf\}/)
  })

  it('competing flows are told apart and have their fairness', async () => {
    serve()
    renderAt(`/campaigns/${IDS.competing}`)
    expect(await screen.findByRole('button', { name: 'Cubic against BBR: bbr (flow 2)' })).toBeTruthy()
    expect(screen.getByRole('heading', { name: 'Fairness between flows' })).toBeTruthy()
    const jain = screen.getByRole('group', { name: "Jain's index" })
    const difference = screen.getByRole('group', { name: 'Throughput difference, Mb/s' })
    const report = makeWorld().reports[IDS.competing]
    for (const one of report?.fairness ?? []) {
      const column = ['startup', 'steady', 'overall'].indexOf(one.phase)
      expect(within(jain).getAllByRole('cell')[column]?.textContent).toBe(formatNumber(one.jain_of_means, 2))
      const mbps = formatSigned((one.difference_bps.mean ?? 0) * 1e-6)
      expect(within(difference).getAllByRole('cell')[column]?.textContent).toBe(mbps)
    }
  })

  it('are announced before there are any', async () => {
    serve({ ...makeWorld(), reports: {} })
    renderAt(`/campaigns/${IDS.running}`)
    expect(await screen.findByText('No results yet')).toBeTruthy()
  })
})

describe('the runs', () => {
  it('keep the failed attempt with its reason beside the one that replaced it', async () => {
    serve()
    renderAt(`/campaigns/${IDS.running}?tab=runs`)
    const table = await screen.findByRole('table', { name: 'Runs' })
    expect(within(table).getAllByRole('row')).toHaveLength(8)
    expect(within(table).getByText('agent_restarted').parentElement?.textContent).toContain('was restarted during the run')
    expect(within(table).getByRole('link', { name: 'HyStart on, cycle 2, attempt 2' })).toBeTruthy()
    expect(within(table).getByText('agent_restarted').parentElement?.textContent).toMatch(/^The agent .* agent_restarted$/)
  })

  it('have the day beside the clock: a campaign may last longer than one', async () => {
    serve()
    renderAt(`/campaigns/${IDS.running}?tab=runs`)
    const table = await screen.findByRole('table', { name: 'Runs' })
    const due = within(table)
      .getAllByRole('cell')
      .filter((cell) => cell.getAttribute('data-label') === 'Due')
    expect(due.map((cell) => /^\d+ [A-Z][a-z]{2,3}, \d\d:\d\d:\d\d$/.test(cell.textContent ?? ''))).toEqual(due.map(() => true))
  })

  it('are filtered and sorted by the address', async () => {
    serve()
    const { router } = renderAt(`/campaigns/${IDS.running}?tab=runs&state=complete`)
    const table = await screen.findByRole('table', { name: 'Runs' })
    expect(within(table).getAllByRole('row')).toHaveLength(5)
    await userEvent.click(within(table).getByRole('button', { name: 'Mb/s' }))
    await waitFor(() => expect(router.state.location.search).toHaveProperty('sort'))
    const rates = within(table)
      .getAllByRole('row')
      .slice(1)
      .map((row) => Number(within(row).getAllByRole('cell').at(-1)?.textContent))
    expect([...rates].sort((a, b) => b - a)).toEqual(rates)
  })
})

describe('live progress', () => {
  it('moves without a reload', async () => {
    serve()
    const { cache } = renderAt(`/campaigns/${IDS.running}`)
    const progress = await screen.findByRole('region', { name: 'Progress' })
    await within(progress).findByText(/21 s of 35 s/)
    applyLiveEvent(cache, 'progress', { run_id: runId('running', 5), elapsed_s: 24.2, bytes: 180_000_000 })
    expect(await within(progress).findByText(/24 s of 35 s · 180 MB/)).toBeTruthy()
  })

  it('says what the running flows do, as their sender sees it', async () => {
    serve()
    const { cache } = renderAt(`/campaigns/${IDS.running}`)
    const progress = await screen.findByRole('region', { name: 'Progress' })
    const flows = await within(progress).findByRole('list', { name: 'Flows now' })
    expect(flows.textContent?.trim()).toBe('Flow 1 · cubic85.2 Mb/sRTT 612 mscwnd 6.20 MB')
    const flow = { flow: 1, elapsed_s: 24.2, heard_s: 24.2, has_ended: false, throughput_bps: null, rtt_ms: 700.4, cwnd_bytes: 3_100_000 }
    applyLiveEvent(cache, 'progress', { run_id: runId('running', 5), elapsed_s: 24.2, bytes: 180_000_000, flows: [flow] })
    await waitFor(() => expect(flows.textContent?.trim()).toBe('Flow 1 · cubicrate followsRTT 700 mscwnd 3.10 MB'))
  })

  it('says which flows have ended while others go on, with sixteen of them, and whose sender is silent', async () => {
    serve()
    const { cache } = renderAt(`/campaigns/${IDS.running}`)
    const flows = await screen.findByRole('list', { name: 'Flows now' })
    const flow = (number: number, elapsed_s: number) => ({
      ...{ flow: number, elapsed_s, heard_s: number === 2 ? 18 : 26, has_ended: number === 1 },
      ...{ throughput_bps: 5e6, rtt_ms: 600, cwnd_bytes: 1e6 },
    })
    const all = Array.from({ length: 16 }, (_, index) => flow(index + 1, [22, 18][index] ?? 26))
    applyLiveEvent(cache, 'progress', { run_id: runId('running', 5), elapsed_s: 26, bytes: 190_000_000, flows: all })
    await waitFor(() => expect(within(flows).getAllByRole('listitem')).toHaveLength(16))
    expect(
      within(flows)
        .getAllByText(/^ended by/)
        .map((one) => one.textContent),
    ).toEqual(['ended by 22 s'])
    const [, second] = within(flows).getAllByRole('listitem')
    expect(second?.textContent, 'another sender, of which nothing is known').toContain('its sender was heard last at 18 s')
  })

  it('says what comes next, when all will have ended, and what was carried', async () => {
    serve()
    renderAt(`/campaigns/${IDS.running}`)
    const progress = await screen.findByRole('region', { name: 'Progress' })
    expect((await within(progress).findByText(/^Next:/)).textContent).toBe('Next: HyStart off, cycle 3, as soon as it can')
    expect(within(progress).getByText(/left, until 2 Jan, 03:0\d UTC$/)).toBeTruthy()
    expect(within(progress).getByText(/transferred of at most .* planned$/)).toBeTruthy()
  })

  it('results of a campaign under way are marked as provisional, those of a complete one are not', async () => {
    const world = serve()
    renderAt(`/campaigns/${IDS.running}`)
    expect((await screen.findByRole('note')).textContent).toContain('Provisional results of')
    Object.assign(world.campaigns.find(({ id }) => id === IDS.running) ?? {}, { state: 'complete' })
    renderAt(`/campaigns/${IDS.recorded}`)
    await screen.findByRole('heading', { name: 'Demo: HyStart on and off' })
    expect(screen.getAllByRole('note')).toHaveLength(1)
  })

  it('a run that ends refreshes list, counts and runs', async () => {
    const world = serve()
    const { cache } = renderAt(`/campaigns/${IDS.running}`)
    await screen.findByText(/4 of 6 runs complete/)
    const campaign = world.campaigns.find(({ id }) => id === IDS.running)
    if (campaign) Object.assign(campaign, { runs_ended: 5, counts: { ...campaign.counts, complete: 5 } })
    applyLiveEvent(cache, 'run', { campaign_id: IDS.running, run_id: runId('running', 5), run_state: 'complete' })
    expect(await screen.findByText(/5 of 6 runs complete/)).toBeTruthy()
  })
})

describe('the verbs', () => {
  it('a running campaign can be paused, then resumed', async () => {
    serve()
    renderAt(`/campaigns/${IDS.running}`)
    await userEvent.click(await screen.findByRole('button', { name: 'Pause' }))
    expect(await screen.findByRole('button', { name: 'Resume' })).toBeTruthy()
  })

  it('cancelling asks first and says what happens', async () => {
    const world = serve()
    renderAt(`/campaigns/${IDS.running}`)
    await userEvent.click(await screen.findByRole('button', { name: 'Cancel' }))
    const dialog = await screen.findByRole('dialog')
    expect(dialog.textContent).toContain('hosts’ settings are restored')
    expect(world.campaigns[0]?.state).toBe('running')
    expect(within(dialog).getByRole('button', { name: 'Keep running' })).toBeTruthy()
    await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel campaign' }))
    await waitFor(() => expect(world.campaigns[0]?.state).toBe('cancelled'))
  })
})

describe('a launch', () => {
  it('says what is in its way before it is tried', async () => {
    serve()
    renderAt(`/campaigns/${IDS.draft}`)
    expect(await screen.findByText('It can be launched, but runs will wait')).toBeTruthy()
    expect(screen.getByText(/both need link geo-viasat at 0 s/)).toBeTruthy()
  })

  it('against agents that are away is refused, and goes ahead when the visitor insists', async () => {
    const world = serve()
    renderAt(`/campaigns/${IDS.draft}`)
    await userEvent.click(await screen.findByRole('button', { name: 'Launch' }))
    const dialog = await screen.findByRole('dialog', { name: 'Launch this campaign?' })
    expect(await within(dialog).findByText(/runs?, until about .* UTC, and at most about/)).toBeTruthy()
    expect(world.campaigns.find(({ id }) => id === IDS.draft)?.state).toBe('draft')
    await userEvent.click(within(dialog).getByRole('button', { name: 'Launch' }))
    expect(await within(dialog).findByText(/is offline/)).toBeTruthy()
    await userEvent.click(within(dialog).getByRole('button', { name: 'Launch although agents are away' }))
    await waitFor(() => expect(world.campaigns.find(({ id }) => id === IDS.draft)?.state).toBe('running'))
  })
})

describe('a campaign that goes on until its means are known', () => {
  it('shows how narrow each one is beside what is asked for, and why it ended', async () => {
    const world = makeWorld()
    const campaign = world.campaigns.find(({ id }) => id === IDS.running)
    if (!campaign) throw new Error('no campaign was recorded')
    const asked = { metric: 'throughput_bps', phase: 'steady', flow: 1, half_width_percent: 5, most_cycles: 60 }
    campaign.spec.until = asked
    const side = { link: 'geo', runs: 12, mean: 1e8, half_width: 4e6 }
    campaign.precision = {
      asked,
      cycles: 12,
      widths: [
        { ...side, condition: 'wide', half_width_percent: 7.25, is_narrow: false },
        { ...side, condition: 'narrow', half_width_percent: 4, is_narrow: true },
      ],
      ended: null,
    }
    serve(world)
    renderAt(`/campaigns/${IDS.running}`)
    expect(await screen.findByText('Until Throughput, steady state is known')).toBeTruthy()
    expect(screen.getByText('± 5 % of the mean requested · 12 of at most 60 cycles have begun')).toBeTruthy()
    const row = (name: string) => screen.getByRole('rowheader', { name }).closest('tr')?.textContent
    expect(row('wide')).toBe('geowide12100± 7.25 %not yet')
    expect(row('narrow')).toContain('± 4.00 %yes')
    expect(screen.getByText(/at most 60 cycles · until Throughput \(steady state\) is known within ± 5 %/)).toBeTruthy()
  })
})

describe('a campaign with a trigger', () => {
  it('says what it waits for and why it did not fire, and shows the secret of its calls once', async () => {
    const world = makeWorld()
    const campaign = world.campaigns.find(({ id }) => id === IDS.running)
    if (!campaign) throw new Error('no campaign was recorded')
    campaign.spec.trigger = { when: { call: true }, pause_s: 600, most_per_day: 24, most: 100, until: null }
    serve(world)
    const state: TriggerState = {
      is_waiting: true,
      waiting_for: 'a signed call',
      waits: 'No call has come.',
      fired: 1,
      most: 100,
      free_at: null,
      refused_at: '2026-01-02T03:04:05.000Z',
      refusal: 'Runs of the last firing have not ended.',
      takes_calls: true,
      has_secret: false,
      firings: [
        {
          number: 1,
          at: '2026-01-02T03:00:00.000Z',
          cause: { name: 'signed call', at: '2026-01-02T03:00:00.000Z', value: 0.5, unit: '', source: 'call' },
          first_cycle: 1,
          runs: 2,
        },
      ],
    }
    server.use(
      http.get('*/trigger', () => HttpResponse.json(state)),
      http.post('*/trigger/secret', () => HttpResponse.json({ secret: 'dlc_once' }, { status: 201 })),
    )
    renderAt(`/campaigns/${IDS.running}`)
    const panel = await screen.findByRole('region', { name: 'Trigger' })
    expect(panel.textContent).toContain('Waiting for a signed call')
    expect(panel.textContent).toContain('Runs of the last firing have not ended.')
    expect(within(panel).getByRole('table', { name: 'Firings' }).textContent).toContain('2 runs')
    await userEvent.click(within(panel).getByRole('button', { name: 'Make the secret' }))
    expect((await within(panel).findByLabelText('Secret of signed calls')).textContent).toBe('dlc_once')
  })
})
