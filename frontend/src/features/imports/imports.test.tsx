import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { IDS, runId } from '@/testing/examples'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const file = (name: string) => new File(['{}'], name, { type: 'application/json' })

async function choose(...files: File[]) {
  const zone = (await screen.findByText('Drop files here')).parentElement as HTMLElement
  fireEvent.drop(zone, { dataTransfer: { files } })
}

it('files that are dropped become a campaign of the given name', async () => {
  const world = serve()
  const { router } = renderAt('/campaigns')
  await userEvent.click(await screen.findByRole('link', { name: 'Import files' }))
  await choose(file('a.json'), file('b.json'))
  await userEvent.type(screen.getByRole('textbox', { name: 'Name of the campaign' }), 'Field trip')
  await userEvent.click(screen.getByRole('button', { name: 'Import 2 files' }))
  await waitFor(() => expect(router.state.location.pathname).toBe(`/campaigns/${IDS.imported}`))
  expect(world.campaigns.find(({ id }) => id === IDS.imported)?.name).toBe('Field trip')
  expect(await screen.findByText('imported', { selector: 'span' })).toBeTruthy()
})

it('a refused file says why, nothing is imported, and the others can go without it', async () => {
  const world = serve({ ...makeWorld(), refusedFiles: [{ file: 'notes.txt', reason: 'it is of no known kind' }] })
  const { router } = renderAt('/campaigns/import')
  await choose(file('a.json'), file('notes.txt'))
  await userEvent.click(screen.getByRole('button', { name: 'Import 2 files' }))
  expect((await screen.findByRole('alert')).textContent).toContain('1 file refused, nothing was imported')
  const [good, refused] = within(screen.getByRole('list', { name: 'Chosen files' })).getAllByRole('listitem')
  expect([good?.textContent, refused?.textContent]).toEqual(['a.json2 B', '✕ notes.txt2 Bit is of no known kind'])
  await userEvent.click(screen.getByRole('button', { name: 'Leave it out' }))
  world.refusedFiles = []
  await userEvent.click(screen.getByRole('button', { name: 'Import' }))
  await waitFor(() => expect(router.state.location.pathname).toBe(`/campaigns/${IDS.imported}`))
})

it('an imported run names its file', async () => {
  serve()
  renderAt(`/runs/${runId(60)}`)
  const panel = await screen.findByRole('region', { name: 'Imported from a file' })
  expect(within(panel).getByText('geo-download.json.gz')).toBeTruthy()
  expect(within(panel).getByText('iperf3')).toBeTruthy()
})
