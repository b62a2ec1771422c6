import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { PathWindow, SatellitePath } from '@/api/types'
import { serve } from '@/testing/network'
import { said } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const PATH = said<SatellitePath>('path')
const AT = `/paths/${PATH.id}`

/** The recorded path in another state. */
function worldOf(changes: Partial<SatellitePath>) {
  const world = makeWorld()
  world.paths = [{ ...PATH, ...changes }]
  return world
}

it('paths are listed with what they are like, and their files', async () => {
  serve()
  renderAt('/paths')
  const row = (await screen.findByRole('link', { name: 'london-new-york' })).closest('tr') as HTMLElement
  await waitFor(() => expect(row.textContent).toContain('over ISLs, 1150 km'))
  expect(row.textContent).toContain('25.5 (25.0 to 26.7) ms')
  expect(row.textContent).toContain('7 (6 to 7)')
  const file = within(row).getByRole('link', { name: 'Download london-new-york' })
  expect(file.getAttribute('href')).toBe(`/api/v1${AT}/file`)
})

it('without paths the page says what to do, and a path is made from there', async () => {
  const world = makeWorld()
  world.paths = []
  serve(world)
  const { router } = renderAt('/paths')
  expect(await screen.findByText('No paths yet')).toBeTruthy()
  await userEvent.click(screen.getAllByRole('button', { name: 'Make a path' }).at(-1) as HTMLElement)
  const form = within(await screen.findByRole('dialog'))
  await userEvent.click(await form.findByRole('combobox', { name: 'Path' }))
  await userEvent.click(await screen.findByRole('option', { name: 'bent-pipe' }))
  expect(await form.findByText(/^London to Frankfurt, London to a gateway/)).toBeTruthy()
  const length = form.getByRole('textbox', { name: 'Length' })
  await userEvent.clear(length)
  await userEvent.type(length, '30')
  expect(form.getByRole('button', { name: 'Make path' }).hasAttribute('disabled')).toBe(true)
  await userEvent.clear(length)
  await userEvent.type(length, '2')
  await userEvent.click(form.getByRole('button', { name: 'Make path' }))
  await waitFor(() => expect(world.paths[0]).toMatchObject({ ready: 'bent-pipe', hours: 2 }))
  await waitFor(() => expect(router.state.location.pathname).toBe(`/paths/${world.paths[0]?.id}`))
  expect(await screen.findByText('It waits for a worker.')).toBeTruthy()
})

it('a path that is made shows how far it is, and its map by itself', async () => {
  const world = worldOf({ state: 'making', done_us: 45_000_000, header: null, summary: null, size_bytes: null })
  serve(world)
  renderAt(AT)
  const bar = await screen.findByRole('progressbar', { name: 'Made of london-new-york' })
  expect(bar.getAttribute('aria-valuenow')).toBe('45000000')
  expect(screen.getByText('45 s of 3 min')).toBeTruthy()
  expect(screen.queryByRole('link', { name: /^Download/ })).toBeNull()
  world.paths = [PATH]
  expect(await screen.findByRole('img', { name: /^Map/ })).toBeTruthy()
})

it('a path that failed says why', async () => {
  serve(worldOf({ state: 'failed', reason: 'It was not finished in 2 tries.', header: null, summary: null }))
  renderAt(AT)
  expect(await screen.findByText(/It was not finished in 2 tries\. Delete it/)).toBeTruthy()
})

it('the moment of the address is on the map and in words', async () => {
  serve()
  renderAt(`${AT}?at=90`)
  const route = 'London → satellites 1558, 1557, 1556, 1555, 1554, 1553 → New York'
  const map = await screen.findByRole('img', { name: `Map. ${route}` })
  expect(map.querySelectorAll('circle')).toHaveLength(6)
  expect(map.querySelectorAll('path[data-ground]')).toHaveLength(2)
  expect(screen.getByText(route)).toBeTruthy()
  expect(screen.getByText('1 Jan 2000, 00:01:30.000 UTC')).toBeTruthy()
  expect(screen.getByText('25.44 ms')).toBeTruthy()
  expect(screen.getByText('1 min 16 s')).toBeTruthy()
  expect(await screen.findByText('8 changes of path')).toBeTruthy()
  const slider = screen.getByRole('slider', { name: 'Moment' })
  expect(slider.getAttribute('aria-valuetext')).toBe('1 Jan 2000, 00:01:30.000 UTC, 25.44 ms, 7 hops')
})

it('slider and buttons put the moment into the address', async () => {
  serve()
  const { router } = renderAt(`${AT}?at=90`)
  fireEvent.change(await screen.findByRole('slider', { name: 'Moment' }), { target: { value: '60000000' } })
  await waitFor(() => expect(router.state.location.search).toEqual({ at: 60 }))
  await userEvent.click(await screen.findByRole('button', { name: 'Next path →' }))
  await waitFor(() => expect(router.state.location.search).toEqual({ at: 106 }))
})

it('a window is a part of the path, and moves', async () => {
  serve(worldOf({ duration_us: 86_400_000_000 }))
  const { router } = renderAt(`${AT}?at=7200`)
  await userEvent.click(await screen.findByRole('combobox', { name: 'Shown' }))
  await userEvent.click(await screen.findByRole('option', { name: '10 min' }))
  await waitFor(() => expect(router.state.location.search).toEqual({ at: 7200, from: 6900, span: 600 }))
  await userEvent.click(screen.getByRole('button', { name: 'Later →' }))
  await waitFor(() => expect(router.state.location.search).toEqual({ at: 7800, from: 7500, span: 600 }))
})

it('a moment without a path is told as that', async () => {
  const window = said<PathWindow>('path-window')
  const points = window.points.map((point) => ({ ...point, delay_ms: null, hops: 0 }))
  const none: PathWindow = { ...window, points, stays: [{ from_us: 0, to_us: 180_000_000, hops: 0 }], places: [] }
  serve({ ...makeWorld(), instead: { [`${AT}/window`]: none } })
  renderAt(AT)
  expect(await screen.findByRole('img', { name: 'Map. No path between London and New York' })).toBeTruthy()
  expect(screen.getByText('No satellites join the stations at this moment.')).toBeTruthy()
  expect(await screen.findByText('no path: 3 min')).toBeTruthy()
})

it('a path is deleted after a question, from its page too', async () => {
  const world = serve()
  const { router } = renderAt(AT)
  await userEvent.click(await screen.findByRole('button', { name: 'Delete london-new-york' }))
  await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await waitFor(() => expect(world.paths).toEqual([]))
  await waitFor(() => expect(router.state.location.pathname).toBe('/paths'))
  expect(await screen.findByText('No paths yet')).toBeTruthy()
})

it('who only reads sees and downloads paths, and is told who makes them', async () => {
  const world = makeWorld()
  if (!world.session) throw new Error('nobody is signed in')
  world.session = { ...world.session, role: 'viewer', may_any: ['read'], may_own: [] }
  serve(world)
  renderAt('/paths')
  expect(await screen.findByText('Your role is read-only; operators create paths')).toBeTruthy()
  expect(await screen.findByRole('link', { name: 'Download london-new-york' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^(Make|Delete)/ })).toBeNull()
})

it('a path that is not there is told as that', async () => {
  serve()
  renderAt('/paths/01890a5d-0000-774b-9000-000000000000')
  expect((await screen.findByRole('alert')).textContent).toContain('There is no path')
})
