import type { Sweep } from '@/api/types'
import { makeCampaignExits, makeRunExits } from './exits.ts'
import type { Answer, Route } from './route.ts'
import { advance, makeSweep, SWEPT } from './sweeps.ts'
import type { World } from './world.ts'

const NOT_FOUND: Answer = {
  status: 404,
  body: { code: 'not_found', message: 'There is no such thing; it may have been deleted.', details: {} },
}

function campaignExits(world: World, id: string | undefined): Answer {
  const campaign = world.campaigns.find((one) => one.id === id)
  if (!campaign) return NOT_FOUND
  const runs = Math.floor(campaign.counts.complete / campaign.conditions.length)
  return { status: 200, body: makeCampaignExits(campaign.id, runs > 0 ? campaign.conditions : [], runs) }
}

function runExits(world: World, id: string | undefined): Answer {
  const run = Object.values(world.runs)
    .flat()
    .find((one) => one.id === id)
  return run ? { status: 200, body: makeRunExits(run) } : NOT_FOUND
}

/** Each look finds the sweeps under way some traces further. */
function listSweeps(world: World, campaign_id: string | undefined): Answer {
  world.sweeps = world.sweeps.map(advance)
  const items = world.sweeps.filter((sweep) => sweep.campaign_id === campaign_id)
  return { status: 200, body: { items, total: items.length } }
}

function createSweep(world: World, campaign_id: string, body: Record<string, unknown>): Answer {
  const sweep = makeSweep(crypto.randomUUID(), campaign_id, body as Pick<Sweep, 'detector' | 'version' | 'grid'>)
  world.sweeps = [sweep, ...world.sweeps]
  return { status: 202, body: sweep }
}

/** What the stand-in server says about slow-start exits and sweeps. */
export const EXIT_ROUTES: Route[] = [
  ['GET', /^\/runs\/([^/]+)\/exits$/, (world, [id]) => runExits(world, id)],
  ['GET', /^\/campaigns\/([^/]+)\/exits$/, (world, [id]) => campaignExits(world, id)],
  ['GET', /^\/sweeps\/parameters$/, () => ({ status: 200, body: SWEPT })],
  ['GET', /^\/campaigns\/([^/]+)\/sweeps$/, (world, [id]) => listSweeps(world, id)],
  ['POST', /^\/campaigns\/([^/]+)\/sweeps$/, (world, [id = ''], body) => createSweep(world, id, body)],
  [
    'DELETE',
    /^\/sweeps\/([^/]+)$/,
    (world, [id]) => {
      world.sweeps = world.sweeps.filter((sweep) => sweep.id !== id)
      return { status: 204 }
    },
  ],
]
