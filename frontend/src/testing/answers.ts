import type { Problem, RunSummary } from '@/api/types'
import { EVIDENCE_ROUTES } from './evidenceAnswers.ts'
import { makeRun } from './examples.ts'
import { EXIT_ROUTES } from './exitAnswers.ts'
import { IMPORT_ROUTES } from './importAnswers.ts'
import enrolment from './recorded/enrolment.json' with { type: 'json' }
import type { Answer, Respond, Route } from './route.ts'
import { makePreview, makeRunSeries, type World } from './world.ts'

const ok = (body: unknown): Answer => ({ status: 200, body })
const list = <T>(items: T[]): Answer => ok({ items, total: items.length })

export function problem(status: number, code: string, message: string, details: Problem['details'] = {}): Answer {
  return { status, body: { code, message, details } satisfies Problem }
}

function findCampaign(world: World, id: string | undefined) {
  return world.campaigns.find((campaign) => campaign.id === id)
}

function findRun(world: World, id: string | undefined): RunSummary | undefined {
  return Object.values(world.runs)
    .flat()
    .find((run) => run.id === id)
}

const noCampaign = problem(404, 'campaign_not_found', 'There is no such campaign; it may have been deleted.')
const noRun = problem(404, 'run_not_found', 'There is no such run; its campaign may have been deleted.')

function setState(state: 'running' | 'paused' | 'cancelled'): Respond {
  return (world, [id]) => {
    const campaign = findCampaign(world, id)
    if (!campaign) return noCampaign
    Object.assign(campaign, { state, launched_at: campaign.launched_at ?? '2026-01-02T03:04:05.000Z' })
    return ok(campaign)
  }
}

function absence(name: string) {
  const message = `${name} is offline (never heard); start \`downlink-agent run\` on its host.`
  return { code: 'agent_offline', message, is_blocking: true, is_waivable: true }
}

const UNIT = '[Service]\nExecStart=/usr/local/bin/downlink-agent run\n'

const ROUTES: Route[] = [
  ...EXIT_ROUTES,
  ...EVIDENCE_ROUTES,
  ...IMPORT_ROUTES,
  ['GET', /^\/service$/, (world) => ok({ is_conducting: world.isConducting, ticked_at: null })],
  ['GET', /^\/setup$/, (world) => ok({ is_needed: world.isSetupNeeded })],
  [
    'POST',
    /^\/setup$/,
    (world) => {
      world.session = { username: 'admin', kind: 'session', scopes: ['read', 'write', 'admin'], expires_at: null }
      world.isSetupNeeded = false
      return { status: 201, body: world.session }
    },
  ],
  [
    'POST',
    /^\/login$/,
    (world, _, body) => {
      if (body.password !== 'correct horse battery') return problem(401, 'login_wrong', 'User name or password is wrong.')
      world.session = { username: String(body.username), kind: 'session', scopes: ['read', 'write', 'admin'], expires_at: null }
      return ok(world.session)
    },
  ],
  [
    'POST',
    /^\/logout$/,
    (world) => {
      world.session = null
      return { status: 204 }
    },
  ],
  ['GET', /^\/session$/, (world) => (world.session ? ok(world.session) : problem(401, 'not_signed_in', 'Sign in first.'))],
  ['GET', /^\/sessions$/, (world) => list(world.sessions)],
  [
    'DELETE',
    /^\/sessions\/([^/]+)$/,
    (world, [id]) => {
      world.sessions = world.sessions.filter((session) => session.id !== id)
      return { status: 204 }
    },
  ],
  [
    'POST',
    /^\/password$/,
    (world, _, body) => {
      if (body.current !== 'correct horse battery') return problem(401, 'login_wrong', 'User name or password is wrong.')
      world.sessions = world.sessions.filter((session) => session.is_own)
      return { status: 204 }
    },
  ],
  ['GET', /^\/tokens$/, (world) => list(world.tokens)],
  [
    'POST',
    /^\/tokens$/,
    (world, _, body) => {
      const token = { ...world.tokens[0], id: crypto.randomUUID(), name: String(body.name), scopes: body.scopes } as World['tokens'][number]
      world.tokens.push(token)
      return { status: 201, body: { ...token, secret: 'dlk_7Qm2x9Rt4Lw8Zc5Yv1Nb6' } }
    },
  ],
  [
    'DELETE',
    /^\/tokens\/([^/]+)$/,
    (world, [id]) => {
      world.tokens = world.tokens.filter((token) => token.id !== id)
      return { status: 204 }
    },
  ],
  ['GET', /^\/agents$/, (world) => list(world.agents)],
  ['POST', /^\/agents\/enrolments$/, (_world, _, body) => ({ status: 201, body: { ...enrolment, name: body.name } })],
  ['GET', /^\/agents\/unit$/, () => ok(UNIT)],
  ['GET', /^\/links$/, (world) => list(world.links)],
  [
    'POST',
    /^\/links$/,
    (world, _, body) => {
      const link = { ...body, id: crypto.randomUUID(), run_id: null, created_at: '2026-01-02T03:08:20.000Z' } as World['links'][number]
      world.links.push(link)
      return { status: 201, body: link }
    },
  ],
  ['GET', /^\/campaigns$/, (world) => list(world.campaigns)],
  [
    'POST',
    /^\/campaigns\/preview$/,
    (world, _, body) => {
      const source = String(body.source)
      if (source.includes('stpo:')) {
        return problem(422, 'campaign_invalid', 'line 4: stpo: is not a key here; did you mean stop?', {
          problems: [{ place: 'stpo', message: 'is not a key here; did you mean stop?', line: 4 }],
        })
      }
      return world.campaigns[0] ? ok(makePreview(world.campaigns[0])) : noCampaign
    },
  ],
  [
    'POST',
    /^\/campaigns$/,
    (world) => {
      const draft = world.campaigns.find(({ state }) => state === 'draft')
      return draft ? { status: 201, body: draft } : noCampaign
    },
  ],
  [
    'GET',
    /^\/campaigns\/([^/]+)$/,
    (world, [id]) => {
      const campaign = findCampaign(world, id)
      return campaign ? ok(campaign) : noCampaign
    },
  ],
  [
    'POST',
    /^\/campaigns\/([^/]+)\/launch$/,
    (world, match, body) => {
      const away = world.agents.filter((agent) => !agent.is_online).map((agent) => absence(agent.name))
      if (away.length > 0 && !body.even_if_offline) {
        return problem(409, 'plan_blocked', away.map(({ message }) => message).join(' '), { conflicts: away })
      }
      return setState('running')(world, match, body)
    },
  ],
  ['POST', /^\/campaigns\/([^/]+)\/resume$/, setState('running')],
  ['POST', /^\/campaigns\/([^/]+)\/pause$/, setState('paused')],
  ['POST', /^\/campaigns\/([^/]+)\/cancel$/, setState('cancelled')],
  ['GET', /^\/campaigns\/([^/]+)\/runs$/, (world, [id]) => list(world.runs[id ?? ''] ?? [])],
  [
    'GET',
    /^\/campaigns\/([^/]+)\/report$/,
    (world, [id]) => {
      const report = world.reports[id ?? '']
      return report ? ok(report) : problem(404, 'report_not_ready', 'There is no report yet: the first cycle has not ended.')
    },
  ],
  [
    'GET',
    /^\/runs\/([^/]+)$/,
    (world, [id]) => {
      const run = findRun(world, id)
      return run ? ok(makeRun(run, world.runs[run.campaign_id])) : noRun
    },
  ],
  [
    'GET',
    /^\/runs\/([^/]+)\/series$/,
    (world, [id]) => {
      const run = findRun(world, id)
      return run ? ok(makeRunSeries(run)) : noRun
    },
  ],
]

/** What the stand-in server says to a request; a path it does not know is a fault of the test. */
export function answer(world: World, method: string, path: string, body: Record<string, unknown>): Answer {
  for (const [verb, pattern, respond] of ROUTES) {
    const match = verb === method ? pattern.exec(path) : null
    if (match) return respond(world, match.slice(1), body)
  }
  return problem(501, 'not_in_examples', `The stand-in server does not know ${method} ${path}.`)
}
