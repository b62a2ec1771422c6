import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { LazyPart, loadTwice } from './LazyPart'

const lost = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module: /assets/x.js'))

it('what does not come at first is asked for once more', async () => {
  let asked = 0
  const second = () => (++asked === 2 ? Promise.resolve('there') : lost())
  expect(await loadTwice(second, 1)).toBe('there')
  await expect(loadTwice(lost, 1)).rejects.toThrow(/Failed to fetch/)
})

it('a part whose file stays away says so in its place, beside what is there, and comes when it is tried again', async () => {
  let isThere = false
  const load = () => (isThere ? Promise.resolve(({ name }: { name: string }) => <p>samples of {name}</p>) : lost())
  render(
    <MantineProvider>
      <h1>Run</h1>
      <LazyPart load={load} props={{ name: 'flow 1' }} />
    </MantineProvider>,
  )
  expect((await screen.findByRole('alert')).textContent).toContain('files_missing')
  expect(screen.getByRole('heading', { name: 'Run' })).toBeTruthy()
  isThere = true
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
  expect(await screen.findByText('samples of flow 1')).toBeTruthy()
})
