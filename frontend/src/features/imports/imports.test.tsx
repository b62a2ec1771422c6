import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { IDS, runId } from '@/testing/recordings'
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
  serve({ ...makeWorld(), refusedFiles: [{ file: 'notes.txt', reason: 'it is of no known kind' }] })
  const { router } = renderAt('/campaigns/import')
  await choose(file('a.json'), file('notes.txt'))
  await userEvent.click(screen.getByRole('button', { name: 'Import 2 files' }))
  expect((await screen.findByRole('alert')).textContent).toContain('1 file refused, nothing was imported')
  const [good, refused] = within(screen.getByRole('list', { name: 'Chosen files' })).getAllByRole('listitem')
  expect([good?.textContent, refused?.textContent]).toEqual(['a.json2 B', '✕ notes.txt2 Bit is of no known kind'])
  await userEvent.click(screen.getByRole('button', { name: 'Import the others' }))
  await waitFor(() => expect(router.state.location.pathname).toBe(`/campaigns/${IDS.imported}`))
})

it('a refused test of an archive is named below its archive', async () => {
  serve({ ...makeWorld(), refusedFiles: [{ file: 'logs.tgz: a/b.json', reason: 'it is empty' }] })
  renderAt('/campaigns/import')
  await choose(file('logs.tgz'))
  await userEvent.click(screen.getByRole('button', { name: 'Import' }))
  expect(await screen.findByText('logs.tgz: a/b.json: it is empty')).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Import the others' })).toBeTruthy()
})

it('when all files are refused there are no others to import', async () => {
  serve({ ...makeWorld(), refusedFiles: [{ file: 'notes.txt', reason: 'it is of no known kind' }] })
  renderAt('/campaigns/import')
  await choose(file('notes.txt'))
  await userEvent.click(screen.getByRole('button', { name: 'Import' }))
  expect(await screen.findByText('it is of no known kind')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Import the others' })).toBeNull()
})

it('files can be put under a condition', async () => {
  const world = serve()
  const { router } = renderAt('/campaigns/import')
  await choose(file('a.json'))
  await userEvent.type(screen.getByRole('textbox', { name: 'Condition of all these files' }), 'HyStart off')
  await userEvent.click(screen.getByRole('button', { name: 'Import' }))
  await waitFor(() => expect(router.state.location.pathname).toBe(`/campaigns/${IDS.imported}`))
  expect(world.importedUnder).toBe('HyStart off')
})

it('the totals of the tool stand beside ours', async () => {
  serve()
  renderAt(`/runs/${runId('imported', 0)}`)
  const table = within(await screen.findByRole('table', { name: 'Totals of iperf3' }))
  const cells = table.getAllByRole('cell').map((cell) => cell.textContent)
  expect(cells).toEqual(['8.00 Mb/s', '8.00 Mb/s', '8', '8.0 s'])
  expect(table.getByRole('rowheader', { name: 'iperf3, upload' })).toBeTruthy()
})

it('an imported run that is being analysed says so, and its campaign is not complete yet', async () => {
  const world = makeWorld()
  const run = world.runs[IDS.imported]?.[0]
  const campaign = world.campaigns.find(({ id }) => id === IDS.imported)
  if (!run || !campaign) throw new Error('the world has no import')
  run.state = 'uploading'
  campaign.runs_ended = 0
  serve(world)
  renderAt(`/campaigns/${IDS.imported}?tab=runs`)
  await waitFor(() => expect(screen.getAllByText('being analysed').length).toBe(2))
  expect(screen.queryByText('complete')).toBeNull()
})

it('a test that failed at once shows why, and no moments that are not its own', async () => {
  const world = makeWorld()
  const run = world.runs[IDS.imported]?.[0]
  if (!run) throw new Error('the world has no import')
  Object.assign(run, { state: 'failed', reason: 'test_failed', detail: 'iperf3 reports an error: no route.', started_at: null })
  serve(world)
  renderAt(`/runs/${runId('imported', 0)}`)
  expect(await screen.findByText('iperf3 reports an error: no route.')).toBeTruthy()
  expect(screen.getByText('not in the file')).toBeTruthy()
  expect(screen.queryByText('Due')).toBeNull()
})

it('an imported run names its file', async () => {
  serve()
  renderAt(`/runs/${runId('imported', 0)}`)
  const panel = await screen.findByRole('region', { name: 'Imported from a file' })
  expect(within(panel).getByText('geo-download.json')).toBeTruthy()
  expect(within(panel).getByText('iperf3')).toBeTruthy()
})
