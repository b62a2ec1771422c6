import { readFileSync } from 'node:fs'
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

it('every agent shows what it does and what its host can do', async () => {
  const world = makeWorld()
  for (const { host } of world.agents)
    if (host) host.controls_unavailable = { dl_vivace: 'this kernel cannot run it: it lacks kfuncs for struct_ops' }
  serve(world)
  renderAt('/agents')
  const card = (await screen.findByRole('heading', { name: 'geo-server-2' })).closest('section') as HTMLElement
  expect(within(card).getByText('uploading 2 of 7')).toBeTruthy()
  expect(within(card).getByText('bbr, cubic')).toBeTruthy()
  const refused = within(card).getByText('1 cannot run here').closest('details') as HTMLDetailsElement
  expect([refused.open, refused.textContent]).toEqual([false, expect.stringContaining('dl_vivace: this kernel cannot run it')])
  expect(screen.getByText('offline')).toBeTruthy()
})

it('what the host’s owner allows is there, and what is not said is a dash', async () => {
  const world = makeWorld()
  for (const { name, host } of world.agents)
    if (host && name === 'geo-server-2')
      host.policy = {
        max_seconds: 3600,
        max_bytes: 2_000_000_000,
        month: { limit_bytes: 50_000_000_000, used_bytes: 41_000_000_000, resets_on: '2026-12-20' },
        quiet_hours: ['weekdays 18:00-23:00', 'sun 00:00-24:00'],
        utc_offset_s: 3600,
      }
  serve(world)
  renderAt('/agents')
  const cardOf = async (name: string) => within((await screen.findByRole('heading', { name })).closest('section') as HTMLElement)
  const card = await cardOf('geo-server-2')
  expect(card.getByText(/^at most 3,600 s and 2\S* GB$/)).toBeTruthy()
  expect(card.getByText(/41\S* GB of 50\S* GB used \(82 %\); it resets on 2026-12-20/)).toBeTruthy()
  expect(card.getByText('weekdays 18:00-23:00; sun 00:00-24:00')).toBeTruthy()
  const silent = await cardOf('geo-client')
  expect(silent.getByText('Quiet hours, by its clock').nextElementSibling?.textContent).toBe('–')
})

it('adding one asks for its name and gives the whole line, the program and the unit', async () => {
  serve()
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'Add agent' }))
  await userEvent.type(await screen.findByLabelText(/Name/), 'viasat-client')
  await userEvent.click(screen.getByRole('button', { name: 'Show what to type' }))
  const golden = readFileSync('../docs/protocol/join_command.txt', 'utf8').trim()
  expect((await screen.findByLabelText('The join command')).textContent).toBe(golden)
  expect(screen.getByLabelText('The install commands').textContent).toContain('/api/v1/agents/binaries/')
  expect((await within(screen.getByRole('dialog')).findByRole('link', { name: 'Linux x86-64' })).getAttribute('href')).toBe(
    '/api/v1/agents/binaries/amd64',
  )
  expect((await screen.findByLabelText('The systemd unit')).textContent).toContain('ExecStart=/usr/local/bin/downlink-agent run')
})

it('a name that the agent would refuse is refused here', async () => {
  serve()
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'Add agent' }))
  await userEvent.type(await screen.findByLabelText(/Name/), 'two words')
  await userEvent.click(screen.getByRole('button', { name: 'Show what to type' }))
  expect(await screen.findByText(/starts with a letter or digit/)).toBeTruthy()
})

it('without agents the page says how to get the first', async () => {
  serve({ ...makeWorld(), agents: [] })
  renderAt('/agents')
  expect(await screen.findByText('No agents yet')).toBeTruthy()
})

it('the program is there without adding an agent, with its checksum beside it', async () => {
  serve()
  renderAt('/agents')
  const program = within(await screen.findByRole('region', { name: 'The agent’s program' }))
  expect((await program.findByRole('link', { name: 'Linux x86-64' })).getAttribute('href')).toBe('/api/v1/agents/binaries/amd64')
  expect(program.getByRole('link', { name: 'SHA-256 of Linux x86-64' }).getAttribute('href')).toBe('/api/v1/agents/binaries/amd64.sha256')
})

it('a program that the server lacks is not offered; how to get it is said', async () => {
  serve()
  renderAt('/agents')
  const program = within(await screen.findByRole('region', { name: 'The agent’s program' }))
  expect(await program.findByText(/^Not on this server: Linux arm64\. .*make install/)).toBeTruthy()
  expect(program.queryByRole('link', { name: 'Linux arm64' })).toBeNull()
})

it('an agent is paused with a reason, and resumed', async () => {
  serve()
  renderAt('/agents')
  await userEvent.click(await screen.findByRole('button', { name: 'Pause geo-client' }))
  const dialog = within(await screen.findByRole('dialog'))
  await userEvent.selectOptions(dialog.getByLabelText('How long'), 'until somebody resumes it')
  await userEvent.type(dialog.getByLabelText('Why'), 'maintenance')
  await userEvent.click(dialog.getByRole('button', { name: 'Pause' }))
  expect(await screen.findByText(/^Paused by admin until somebody resumes it \(maintenance\)\./)).toBeTruthy()
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Resume geo-client' })))
  await userEvent.click(screen.getByRole('button', { name: 'Resume geo-client' }))
  expect(document.activeElement).toBe(await screen.findByRole('button', { name: 'Pause geo-client' }))
})
