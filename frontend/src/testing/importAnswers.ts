import { IDS, runId } from './examples.ts'
import type { Answer, Route } from './route.ts'
import type { World } from './world.ts'

function importFiles(world: World, body: Record<string, unknown>): Answer {
  const refused = world.refusedFiles
  if (refused.length > 0) return { status: 422, body: { code: 'import_refused', message: 'Nothing was imported.', details: { refused } } }
  const campaign = world.campaigns.find(({ id }) => id === (body.campaign_id ?? IDS.imported))
  if (campaign && typeof body.campaign === 'string') campaign.name = body.campaign
  const run = { run_id: runId(60), file: 'geo-download.json.gz', source: 'iperf3', sha256: '9f86d0', flows: 1 }
  return { status: 201, body: { campaign_id: campaign?.id ?? IDS.imported, runs: [run] } }
}

/** What the stand-in server says to files of other tools. */
export const IMPORT_ROUTES: Route[] = [['POST', /^\/imports$/, (world, _, body) => importFiles(world, body)]]
