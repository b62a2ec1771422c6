import { IDS, runId } from './examples.ts'
import type { Answer, Route } from './route.ts'
import type { World } from './world.ts'

function importFiles(world: World, body: Record<string, unknown>): Answer {
  const refused = world.refusedFiles
  const isSkipping = body.skip_refused === 'true'
  if (refused.length > 0 && !isSkipping)
    return { status: 422, body: { code: 'import_refused', message: 'Nothing was imported.', details: { refused } } }
  const campaign = world.campaigns.find(({ id }) => id === (body.campaign_id ?? IDS.imported))
  if (campaign && typeof body.campaign === 'string') campaign.name = body.campaign
  world.importedUnder = typeof body.condition === 'string' ? body.condition : null
  const told = { file: 'geo-download.json.gz', source: 'iperf3', sha256: '9f86d0', condition: 'cubic download', failure: null }
  return { status: 201, body: { campaign_id: campaign?.id ?? IDS.imported, runs: [{ run_id: runId(60), ...told, flows: 1 }], refused } }
}

/** What the stand-in server says to files of other tools. */
export const IMPORT_ROUTES: Route[] = [['POST', /^\/imports$/, (world, _, body) => importFiles(world, body)]]
