import { makeCampaignLimits, makeRunLimits } from './limits.ts'
import type { Answer, Route } from './route.ts'
import { makeStatistics } from './statistics.ts'
import type { World } from './world.ts'

function runLimits(world: World, id: string): Answer {
  const run = Object.values(world.runs)
    .flat()
    .find((one) => one.id === id)
  return run
    ? { status: 200, body: makeRunLimits(run) }
    : { status: 404, body: { code: 'run_not_found', message: 'There is no such run.', details: {} } }
}

/** What the stand-in server says about differences and limits; empty where there is no report yet. */
export const EVIDENCE_ROUTES: Route[] = [
  [
    'GET',
    /^\/campaigns\/([^/]+)\/statistics$/,
    (world, [id = '']) => {
      const report = world.reports[id]
      const nothing = { campaign_id: id, comparisons: [], outliers: [] }
      return { status: 200, body: report ? makeStatistics(report, world.runs[id] ?? []) : nothing }
    },
  ],
  [
    'GET',
    /^\/campaigns\/([^/]+)\/limits$/,
    (world, [id = '']) => {
      const report = world.reports[id]
      return { status: 200, body: report ? makeCampaignLimits(report) : { campaign_id: id, groups: [], advice: [] } }
    },
  ],
  ['GET', /^\/runs\/([^/]+)\/limits$/, (world, [id = '']) => runLimits(world, id)],
]
