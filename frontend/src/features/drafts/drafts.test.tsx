import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { HttpResponse, http } from 'msw'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CampaignPreview } from '@/api/types'
import { serve, server } from '@/testing/network'
import { IDS, said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'
import { readDraft } from './document'
import { TEMPLATES } from './templates'
import { readUnsaved } from './unsaved'

beforeEach(() => localStorage.clear())

/** The text that the page holds, as it is kept. */
const kept = (key: string) => readUnsaved(key)?.text ?? ''
const data = (key: string) => readDraft(kept(key)).data

describe('a new campaign', () => {
  it('begins with a choice of templates, each with what it answers', async () => {
    serve()
    const { router } = renderAt('/campaigns/new')
    const templates = await screen.findByRole('list', { name: 'Templates' })
    expect(
      within(templates)
        .getAllByRole('link')
        .map((link) => link.textContent),
    ).toEqual(TEMPLATES.map(({ title, answers, figure }) => title + answers + figure))
    await userEvent.click(within(templates).getByRole('link', { name: /^HyStart on and off/ }))
    expect(router.state.location.search).toEqual({ start: 'hystart' })
    expect(await screen.findByRole('textbox', { name: 'Name' })).toHaveProperty('value', 'HyStart on and off')
    expect(screen.getAllByText('geo-viasat').length).toBeTruthy()
  })

  it('is previewed as planned runs, size and conflicts before anything is saved', async () => {
    serve()
    renderAt('/campaigns/new?start=example')
    expect(await screen.findByRole('heading', { name: 'Timeline' })).toBeTruthy()
    expect(screen.getByText('3.78 GB')).toBeTruthy()
    expect(screen.getByText(/both need link geo-viasat at 0 s/)).toBeTruthy()
    expect(screen.getByText(/\d+ of \d+ slow-start detectors .* need every ACK, so they will return no verdict/)).toBeTruthy()
    expect(screen.getAllByText('4 min 36 s').length).toBeGreaterThan(0)
  })

  it('tries a data port when it is asked to, and keeps the text meanwhile', async () => {
    serve()
    const { router } = renderAt('/campaigns/new?start=example')
    const name = await screen.findByRole('textbox', { name: 'Name' })
    await userEvent.type(name, ' once more')
    await userEvent.click(await screen.findByText('geo-client', { selector: 'strong' }))
    await userEvent.click(screen.getByRole('button', { name: 'Try it now on geo-viasat' }))
    await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Start' }))
    await waitFor(() => expect(router.state.location.pathname).toMatch(/^\/runs\//))
    router.history.back()
    expect(((await screen.findByRole('textbox', { name: 'Name' })) as HTMLInputElement).value).toMatch(/ once more$/)
  })

  it('can be launched only when the answer to this very text has come', async () => {
    const preview = said<CampaignPreview>('preview')
    const answers: (() => void)[] = []
    serve()
    server.use(
      http.post('*/api/v1/campaigns/preview', async () => {
        await new Promise<void>((resolve) => answers.push(resolve))
        return HttpResponse.json({ ...preview, conflicts: [] })
      }),
    )
    renderAt('/campaigns/new?start=hystart')
    const button = await screen.findByRole('button', { name: 'Save and launch' })
    await waitFor(() => expect(answers).toHaveLength(1))
    answers[0]?.()
    await waitFor(() => expect(button).toHaveProperty('disabled', false))
    const seen: boolean[] = []
    await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'x')
    expect(button).toHaveProperty('disabled', true)
    const observer = new MutationObserver(() => seen.push((button as HTMLButtonElement).disabled))
    observer.observe(button, { attributes: true, attributeFilter: ['disabled'] })
    await waitFor(() => expect(answers).toHaveLength(2))
    expect(seen).toEqual([])
    answers[1]?.()
    await waitFor(() => expect(button).toHaveProperty('disabled', false))
    observer.disconnect()
  })

  it('lists planned runs a page at a time, with the clock', async () => {
    const world = makeWorld()
    const preview = said<CampaignPreview>('preview')
    const runs = Array.from({ length: 25 }, (_, index) => ({ ...preview.runs[0], cycle: index + 1, due_s: 60 * index }))
    serve(world)
    server.use(
      http.post('*/api/v1/campaigns/preview', () => HttpResponse.json({ ...preview, runs, estimate: { ...preview.estimate, runs: 600 } })),
    )
    renderAt('/campaigns/new?start=example')
    const table = await screen.findByRole('group', { name: 'Planned runs' })
    expect(within(table).getAllByRole('row')).toHaveLength(11)
    expect(screen.getAllByText('The first 25 of 600 runs.').length).toBeGreaterThan(0)
    await userEvent.click(screen.getByRole('button', { name: 'Page 3' }))
    expect(within(table).getAllByRole('row')).toHaveLength(6)
    expect(within(table).getAllByRole('rowheader')[0]?.textContent).toMatch(/^\w+ \d+ \w+, \d\d:\d\d:\d\d Europe\/Madrid$/)
  })

  it('a field of the form changes its own place of the text', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    const cycles = await screen.findByRole('textbox', { name: 'Cycles' })
    await userEvent.clear(cycles)
    await userEvent.type(cycles, '25')
    expect(data('hystart')?.timetable).toEqual({ cycles: 25, pause_s: 60, order: 'interleaved' })
    expect(kept('hystart')).toContain('# Peters 2021, Figure 5')
  })

  it('hours take the place of cycles, bytes that of seconds', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    await userEvent.click(await screen.findByRole('radio', { name: 'By hours' }))
    await userEvent.click(screen.getByRole('radio', { name: 'After bytes' }))
    expect(data('hystart')).toMatchObject({ timetable: { duration_h: 24, every_s: 300, order: 'interleaved' }, stop: { bytes: 100e6 } })
    expect(data('hystart')?.timetable).not.toHaveProperty('cycles')
  })

  it('a condition is changed where it opens, and a flow is added beside its flow', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    await userEvent.click(await screen.findByText('HyStart off', { selector: 'summary strong' }))
    await userEvent.click(await screen.findByRole('button', { name: 'Add a flow beside it' }))
    expect(data('hystart')?.conditions).toEqual([
      { name: 'HyStart on', sender: { 'tcp_cubic.hystart': 1 } },
      { name: 'HyStart off', sender: { 'tcp_cubic.hystart': 0 }, flows: [{ cc: 'cubic' }, { cc: 'cubic', sender: 2 }] },
    ])
  })

  it('a factor makes every combination, and its levels can be named', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    await userEvent.click(await screen.findByRole('radio', { name: 'Matrix' }))
    await userEvent.click(screen.getByRole('button', { name: 'Add a factor' }))
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Congestion control' }))
    expect(await screen.findByText('2 × 2 = 4 conditions, every combination once in each cycle')).toBeTruthy()
    const label = screen.getByRole('textbox', { name: 'Congestion control, level 2: name' })
    await userEvent.clear(label)
    await userEvent.type(label, 'BBR 1')
    const names = ((data('hystart')?.conditions ?? []) as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(['HyStart on, Cubic', 'HyStart on, BBR 1', 'HyStart off, Cubic', 'HyStart off, BBR 1'])
  })

  it('what was typed is there after leaving the page, and can be discarded', async () => {
    serve()
    const first = renderAt('/campaigns/new?start=hystart')
    const name = await screen.findByRole('textbox', { name: 'Name' })
    await userEvent.type(name, ' again')
    first.unmount()
    renderAt('/campaigns/new?start=hystart')
    expect(await screen.findByText('Your unsaved text is back')).toBeTruthy()
    expect(screen.getByRole('textbox', { name: 'Name' })).toHaveProperty('value', 'HyStart on and off again')
    await userEvent.click(screen.getByRole('button', { name: 'Discard it' }))
    expect(screen.getByRole('textbox', { name: 'Name' })).toHaveProperty('value', 'HyStart on and off')
    expect(readUnsaved('hystart')).toBeNull()
  })

  it('the choice of templates offers what was not saved', async () => {
    serve()
    localStorage.setItem('downlink.unsaved.hystart', JSON.stringify({ text: 'name: Half typed\n', at: '2026-01-02T03:04:05.000Z' }))
    renderAt('/campaigns/new')
    expect(await screen.findByRole('link', { name: 'Half typed' })).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Discard Half typed' }))
    expect(screen.queryByText('Not saved yet')).toBeNull()
  })

  it('a text that is broken sends from the form to the text, and cannot be saved', async () => {
    serve()
    localStorage.setItem(
      'downlink.unsaved.hystart',
      JSON.stringify({ text: 'name: x\nlinks: [a\nstpo: 3\n', at: '2026-01-02T03:04:05.000Z' }),
    )
    const { router } = renderAt('/campaigns/new?start=hystart')
    expect(await screen.findByText('This text cannot be shown as a form')).toBeTruthy()
    expect(await screen.findByText(/^line 6: stpo: unknown key/)).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Save as draft' }).hasAttribute('disabled')).toBe(true)
    await userEvent.click(screen.getByRole('button', { name: 'Correct it as YAML' }))
    expect(router.state.location.search).toMatchObject({ view: 'yaml' })
  })

  it('the text has line numbers, and an error is marked at its line', async () => {
    serve()
    const text = 'name: x\nlinks: [geo-viasat]\ntimetable: {cycles: 1}\nconditions: [{name: a}]\nstop: {seconds: 5}\nstpo: 3\n'
    localStorage.setItem('downlink.unsaved.hystart', JSON.stringify({ text, at: '2026-01-02T03:04:05.000Z' }))
    const { container } = renderAt('/campaigns/new?start=hystart&view=yaml')
    const file = await screen.findByRole('textbox', { name: 'Campaign file' })
    expect(file.textContent).toContain('stpo: 3')
    await waitFor(() => expect(container.querySelector('.cm-lintRange-error')?.textContent).toBe('stpo: 3'))
    const numbers = [...container.querySelectorAll('.cm-lineNumbers .cm-gutterElement')].map((one) => one.textContent)
    expect(numbers).toContain('6')
  })
})

describe('the clock of a timetable', () => {
  it('start, repetition and opening hours are fields that write the file, and take it back', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    await userEvent.click(await screen.findByRole('switch', { name: /Start at a set time/ }))
    const fill = (label: RegExp | string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
    fill(/Start date/, '2026-12-01')
    fill(/Start time/, '19:30')
    await userEvent.click(screen.getByRole('combobox', { name: 'Repeat' }))
    await userEvent.click(await screen.findByRole('option', { name: 'each week' }))
    fill(/^Until(?! it)/, '2026-12-15')
    await userEvent.click(screen.getByRole('button', { name: 'Add hours' }))
    fill('From', '20:00')
    const timetable = () => (data('hystart')?.timetable ?? {}) as Record<string, unknown>
    await waitFor(() =>
      expect(timetable()).toMatchObject({
        start_at: expect.stringMatching(/^2026-12-01 19:30 \S+$/),
        repeat: { every: 'week', until: '2026-12-15' },
        opening_hours: ['weekdays 20:00-06:00'],
      }),
    )
    expect(screen.getByText('of the next day')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Remove hours 1' }))
    await userEvent.click(screen.getByRole('combobox', { name: 'Repeat' }))
    await userEvent.click(await screen.findByRole('option', { name: 'not at all' }))
    await userEvent.click(screen.getByRole('switch', { name: /Start at a set time/ }))
    await waitFor(() => expect(Object.keys(timetable()).filter((key) => /start_at|repeat|opening_hours/.test(key))).toEqual([]))
  })
})

describe('a saved draft', () => {
  it('is edited and saved in its place', async () => {
    const world = serve()
    const { router } = renderAt(`/campaigns/${IDS.draft}`)
    await userEvent.click(await screen.findByRole('link', { name: 'Edit' }))
    await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), ', again')
    await waitFor(() => expect(screen.getByRole('button', { name: 'Save as draft' }).hasAttribute('disabled')).toBe(false))
    await userEvent.click(screen.getByRole('button', { name: 'Save as draft' }))
    await waitFor(() => expect(router.state.location.pathname).toBe(`/campaigns/${IDS.draft}`))
    expect(readDraft(world.campaigns.find(({ id }) => id === IDS.draft)?.source ?? '').data?.name).toBe('Detectors, one by one, again')
    expect(readUnsaved(`draft ${IDS.draft}`)).toBeNull()
  })

  it('is made of a campaign that has ended, and opened', async () => {
    const world = serve()
    const { router } = renderAt(`/campaigns/${IDS.recorded}`)
    await userEvent.click(await screen.findByRole('button', { name: 'Duplicate' }))
    expect(await screen.findByRole('heading', { name: 'Edit draft' })).toBeTruthy()
    expect(router.state.location.pathname).toBe(`/campaigns/${world.campaigns.at(-1)?.id}/edit`)
  })

  it('what was launched cannot be edited, and says what can be done', async () => {
    serve()
    renderAt(`/campaigns/${IDS.running}/edit`)
    expect(await screen.findByText(/Duplicate the campaign and change the copy/)).toBeTruthy()
  })

  it('its file can be taken away', async () => {
    serve()
    renderAt(`/campaigns/${IDS.draft}?tab=plan`)
    const link = await screen.findByRole('link', { name: 'Download Detectors-one-by-one.json' })
    expect(decodeURIComponent(link.getAttribute('href') ?? '')).toContain('"name": "Detectors, one by one"')
  })
})

describe('the pre-flight', () => {
  it('answers for each host with a sign, words and the run that showed it', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    const panel = await screen.findByRole('region', { name: 'Pre-flight' })
    const host = within(panel).getByRole('list', { name: 'Pre-flight of geo-client' })
    const answers = within(host)
      .getAllByRole('listitem')
      .map((item) => item.textContent ?? '')
    expect(answers[0]).toBe('✓Online: Its agent is online. ')
    expect(answers.find((text) => text.includes('Data port'))).toContain('It reached the data port of geo-server-1 in their last run.')
    expect(within(host).getAllByRole('link', { name: 'That run' }).length).toBeGreaterThan(0)
  })
})

describe('cycles until a mean is known', () => {
  it('take the place of a number of cycles, and give it back', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    const timetable = () => data('hystart')?.timetable as Record<string, unknown> | undefined
    const until = () => data('hystart')?.until
    fireEvent.click(await screen.findByRole('radio', { name: 'Until it is known' }))
    const asked = { metric: 'throughput_bps', phase: 'steady', half_width_percent: 5, most_cycles: 60 }
    await waitFor(() => expect(until()).toEqual(asked))
    expect(timetable()).not.toHaveProperty('cycles')
    expect(timetable()).toHaveProperty('pause_s')
    fireEvent.change(screen.getByLabelText(/Known within/), { target: { value: '2.5' } })
    await waitFor(() => expect(until()).toEqual({ ...asked, half_width_percent: 2.5 }))
    fireEvent.click(screen.getByRole('radio', { name: 'By hours' }))
    await waitFor(() => expect(timetable()).toMatchObject({ duration_h: 24, every_s: 300 }))
    expect(until()).toBeUndefined()
    expect(timetable()).not.toHaveProperty('pause_s')
    fireEvent.click(screen.getByRole('radio', { name: 'By cycles' }))
    await waitFor(() => expect(timetable()).toMatchObject({ cycles: 10, pause_s: 10 }))
    expect(timetable()).not.toHaveProperty('duration_h')
  })
})

describe('a trigger', () => {
  it('takes the place of the launch, with its condition and its limits, and is taken away again', async () => {
    serve()
    renderAt('/campaigns/new?start=hystart')
    const choose = async (label: string, option: RegExp) => {
      fireEvent.click(await screen.findByRole('combobox', { name: label }))
      fireEvent.click(await screen.findByRole('option', { name: option }))
    }
    const trigger = () => data('hystart')?.trigger
    await choose('Runs start with', /a quantity of a link/)
    await waitFor(() => expect(trigger()).toEqual({ when: { quantity: 'dish.obstruction_ratio', above: 0.02, for_s: 30 } }))
    await choose('Holds', /below/)
    await waitFor(() => expect(trigger()).toEqual({ when: { quantity: 'dish.obstruction_ratio', below: 0.02, for_s: 30 } }))
    fireEvent.change(screen.getByLabelText(/Last day/), { target: { value: '2026-12-31' } })
    await choose('Runs start with', /a signed HTTP call/)
    await waitFor(() => expect(trigger()).toEqual({ when: { call: true }, until: '2026-12-31' }))
    await choose('Runs start with', /the launch/)
    await waitFor(() => expect(trigger()).toBeUndefined())
  })
})
