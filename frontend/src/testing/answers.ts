import type { Campaign, Problem, RunSummary, Sweep } from '@/api/types'
import { numberedId } from './ids.ts'
import { answerOf, answerTo, IDS, said } from './recordings.ts'
import type { World } from './world.ts'

export interface Answer {
  status: number
  body?: unknown
}

type Body = Record<string, unknown>
type Respond = (world: World, parts: string[], body: Body) => Answer | null
/** Method and path (after /api/v1), with the answer; null leaves it to the recording. */
type Route = [method: string, path: RegExp, respond: Respond]

const ok = (body: unknown): Answer => ({ status: 200, body })
const done: Answer = { status: 204 }
const list = <T>(items: T[]): Answer => ok({ items, total: items.length })
const PASSWORD = 'correct horse battery'

const findCampaign = (world: World, id = '') => world.campaigns.find((campaign) => campaign.id === id)

function findRun(world: World, id: string | undefined): RunSummary | undefined {
  return Object.values(world.runs)
    .flat()
    .find((run) => run.id === id)
}

function setState(state: Campaign['state']): Respond {
  return (world, [id]) => {
    const campaign = findCampaign(world, id)
    if (!campaign) return answerOf('campaign-unknown')
    return ok(Object.assign(campaign, { state, launched_at: campaign.launched_at ?? campaign.created_at }))
  }
}

/** A list of what the world has, of which one can be taken away. */
function listed(path: string, key: 'tokens' | 'sessions' | 'sweeps' | 'paths'): Route[] {
  const remove: Respond = (world, [id]) => {
    Object.assign(world, { [key]: (world[key] as { id: string }[]).filter((one) => one.id !== id) })
    return done
  }
  return [
    ['GET', new RegExp(`^/${path}$`), (world) => list(world[key] as unknown[])],
    ['DELETE', new RegExp(`^/${path}/([^/]+)$`), remove],
  ]
}

const signIn: Respond = (world, _, body) => {
  if (body.password !== PASSWORD) return answerOf('login-wrong')
  world.session = said('login')
  world.isSetupNeeded = false
  return ok(world.session)
}

const signOut: Respond = (world) => {
  world.session = null
  return done
}

const changePassword: Respond = (world, _, body) => {
  if (body.current !== PASSWORD) return answerOf('login-wrong')
  world.sessions = world.sessions.filter((session) => session.is_own)
  return done
}

/** The recorded answer to a creation, with what this one asked for. */
const created =
  (name: string, key: 'tokens' | 'links' | 'paths'): Respond =>
  (world, _, body) => {
    const { status, body: made } = answerOf(name)
    const one = { ...(made as Body), ...body, id: numberedId() }
    ;(world[key] as unknown[]).push(one)
    return { status, body: one }
  }

/** Without a body it ends the pause. */
const pauseAgent: Respond = (world, [id], body) => {
  const pause = 'until' in body ? { by: 'admin', until: null, why: null, ...body } : null
  world.agents = world.agents.map((agent) => (agent.id === id ? { ...agent, pause } : agent))
  return { status: 204, body: null }
}

const launch: Respond = (world, parts, body) => {
  const isAnyAway = world.agents.some((agent) => !agent.is_online)
  return isAnyAway && !body.even_if_offline ? answerOf('launch-blocked') : setState('running')(world, parts, body)
}

const preview: Respond = (_world, _, body) => {
  const source = String(body.source)
  if (source.includes('stpo:')) return answerOf('preview-invalid')
  return answerOf(source === said<{ source: string }>('draft').source ? 'draft-preview' : 'preview')
}

const showPath: Respond = (world, [id]) => {
  const path = world.paths.find((one) => one.id === id)
  return path ? ok(path) : answerOf('path-unknown')
}

/** A draft as the server makes one, of this campaign's file. */
const duplicate: Respond = (world, [id]) => {
  const original = findCampaign(world, id)
  if (!original) return answerOf('campaign-unknown')
  const copy = {
    ...said<World['campaigns'][number]>('draft'),
    id: numberedId(),
    name: `${original.name} (copy)`,
    source: original.source,
  }
  world.campaigns.push(copy)
  return { status: 201, body: copy }
}

const changeDraft: Respond = (world, [id], { source }) => {
  const campaign = findCampaign(world, id)
  return campaign ? ok(Object.assign(campaign, { source: String(source) })) : answerOf('campaign-unknown')
}

const importFiles: Respond = (world, _, body) => {
  const refused = world.refusedFiles
  if (refused.length > 0 && body.skip_refused !== 'true') {
    const problem = said<Problem>('import-refused')
    return { status: 422, body: { ...problem, details: { refused } } }
  }
  const campaign = findCampaign(world, IDS.imported)
  if (campaign && typeof body.campaign === 'string') campaign.name = body.campaign
  world.importedUnder = typeof body.condition === 'string' ? body.condition : null
  return answerOf('import-done')
}

/** Each look finds the sweeps under way some traces further. */
function advance(sweep: Sweep): Sweep {
  if (sweep.state !== 'queued' && sweep.state !== 'running') return sweep
  const done = Math.min(sweep.total, sweep.done + 2)
  if (done < sweep.total) return { ...sweep, state: 'running', done }
  const [like] = said<{ items: Sweep[] }>('recorded-sweeps').items
  const [cell] = like?.cells ?? []
  const [[name, values] = ['', []]] = Object.entries(sweep.grid)
  return { ...sweep, state: 'complete', done, cells: cell ? values.map((value) => ({ ...cell, parameters: { [name]: value } })) : [] }
}

const listSweeps: Respond = (world, [campaign_id]) => {
  world.sweeps = world.sweeps.map(advance)
  return list(world.sweeps.filter((sweep) => sweep.campaign_id === campaign_id))
}

const createSweep: Respond = (world, _, body) => {
  const { status, body: made } = answerOf('sweep-created')
  const sweep = { ...(made as Sweep), ...body, id: numberedId() } as Sweep
  world.sweeps = [sweep, ...world.sweeps]
  return { status, body: sweep }
}

/** A run in full: as recorded, with what the test changed of its row. */
const showRun: Respond = (world, [id]) => {
  const run = findRun(world, id)
  const recorded = answerTo('GET', `/runs/${id}`)
  return recorded ? ok({ ...(recorded.body as Body), ...run }) : answerOf('run-unknown')
}

/** What can be said of a run's next attempt without a clock. */
function nextAttempt(world: World, run: RunSummary): RunSummary {
  const made: RunSummary = {
    ...run,
    id: numberedId(),
    attempt: run.attempt + 1,
    state: 'planned',
    reason: null,
    detail: null,
    started_at: null,
    ended_at: null,
  }
  world.runs[run.campaign_id]?.push(made)
  return made
}

const rerunRun: Respond = (world, [id]) => {
  const run = findRun(world, id)
  return run ? { status: 201, body: { ...said<Body>('running-run-6'), ...nextAttempt(world, run) } } : answerOf('run-unknown')
}

const rerunCampaign: Respond = (world, [id]) => {
  const failed = (world.runs[id ?? ''] ?? []).filter(({ state }) => state === 'failed')
  for (const run of failed) nextAttempt(world, run)
  return ok({ campaign: findCampaign(world, id), runs: failed.length })
}

const cancelRun: Respond = (world, [id]) => {
  const run = findRun(world, id)
  return run ? ok({ ...said<Body>('running-run-6'), ...Object.assign(run, { state: 'cancelled' }) }) : answerOf('run-unknown')
}

/** Over the link whose agents are there; those of the other one are away. */
const quickTest: Respond = (world, [id]) =>
  answerOf(world.links.find((link) => link.id === id)?.name === 'geo-viasat' ? 'quick-test-1' : 'quick-test-2')

/** The query's last tag counts; order is the world's, but by name. */
const listCampaigns: Respond = (world, _, { q, state, link, tag, sort, limit, offset }) => {
  const fits = world.campaigns.filter(
    (one) =>
      (!q || one.name.toLowerCase().includes(String(q).toLowerCase())) &&
      (!state || one.state === state) &&
      (!link || one.links.includes(String(link))) &&
      (!tag || one.tags.includes(String(tag))),
  )
  const sorted = sort === 'name' ? fits.toSorted((a, b) => a.name.localeCompare(b.name)) : fits
  const from = Number(offset ?? 0)
  return ok({ items: sorted.slice(from, from + Number(limit ?? 50)), total: fits.length })
}

const choices: Respond = ({ campaigns }) => {
  const counted = (values: string[]) => Object.fromEntries(values.map((value) => [value, values.filter((one) => one === value).length]))
  return ok({
    states: counted(campaigns.map(({ state }) => state)),
    tags: counted(campaigns.flatMap(({ tags }) => tags)),
    links: counted(campaigns.flatMap(({ links }) => links)),
  })
}

const describeCampaign: Respond = (world, [id], body) => {
  const campaign = findCampaign(world, id)
  return campaign ? ok(Object.assign(campaign, body)) : answerOf('campaign-unknown')
}

const annotate: Respond = (world, _, body) => {
  world.annotations.push(body)
  return { status: 201, body: { ...body, id: numberedId(), created_at: '2026-01-02T03:04:05Z' } }
}

const ROUTES: Route[] = [
  ['POST', /^\/annotations$/, annotate],
  ['GET', /^\/provider$/, () => ok({ is_on: false, name: null })],
  ['GET', /^\/account\/access$/, () => answerOf('account-access')],
  ['GET', /^\/service$/, (world) => ok({ ...said<Body>('service'), is_conducting: world.isConducting })],
  ['GET', /^\/setup$/, (world) => answerOf(world.isSetupNeeded ? 'setup-needed' : 'setup')],
  ['POST', /^\/setup$/, signIn],
  ['POST', /^\/login$/, signIn],
  ['POST', /^\/logout$/, signOut],
  ['POST', /^\/password$/, changePassword],
  ['GET', /^\/session$/, (world) => (world.session ? ok(world.session) : answerOf('session-none'))],
  ...listed('sessions', 'sessions'),
  ...listed('tokens', 'tokens'),
  ...listed('sweeps', 'sweeps'),
  ['GET', /^\/paths\/ready$/, () => answerOf('paths-ready')],
  ...listed('paths', 'paths'),
  ['GET', /^\/paths\/([^/]+)$/, showPath],
  ['POST', /^\/paths$/, created('path-ordered', 'paths')],
  ['POST', /^\/tokens$/, created('token-created', 'tokens')],
  ['GET', /^\/agents$/, (world) => list(world.agents)],
  ['PUT', /^\/agents\/([^/]+)\/pause$/, pauseAgent],
  ['DELETE', /^\/agents\/([^/]+)\/pause$/, pauseAgent],
  ['POST', /^\/agents\/enrolments$/, () => answerOf('enrolment')],
  ['GET', /^\/links$/, (world) => list(world.links)],
  ['POST', /^\/links$/, created('link-created', 'links')],
  ['POST', /^\/links\/([^/]+)\/quick-test$/, quickTest],
  ['GET', /^\/campaigns$/, listCampaigns],
  ['GET', /^\/campaigns\/choices$/, choices],
  ['PATCH', /^\/campaigns\/([^/]+)$/, describeCampaign],
  ['POST', /^\/campaigns$/, () => answerOf('campaign-created')],
  ['POST', /^\/campaigns\/preview$/, preview],
  ['GET', /^\/campaigns\/schema$/, () => answerOf('campaign-schema')],
  ['POST', /^\/imports$/, importFiles],
  ['POST', /^\/campaigns\/([^/]+)\/duplicate$/, duplicate],
  ['PUT', /^\/campaigns\/([^/]+)$/, changeDraft],
  ['POST', /^\/campaigns\/([^/]+)\/launch$/, launch],
  ['POST', /^\/campaigns\/([^/]+)\/resume$/, setState('running')],
  ['POST', /^\/campaigns\/([^/]+)\/pause$/, setState('paused')],
  ['POST', /^\/campaigns\/([^/]+)\/cancel$/, setState('cancelled')],
  ['GET', /^\/campaigns\/([^/]+)\/sweeps$/, listSweeps],
  ['POST', /^\/campaigns\/([^/]+)\/sweeps$/, createSweep],
  [
    'GET',
    /^\/campaigns\/([^/]+)$/,
    (world, [id]) => (findCampaign(world, id) ? ok(findCampaign(world, id)) : answerOf('campaign-unknown')),
  ],
  ['GET', /^\/campaigns\/([^/]+)\/runs$/, (world, [id = '']) => list(world.runs[id] ?? [])],
  ['GET', /^\/campaigns\/([^/]+)\/report$/, (world, [id = '']) => (world.reports[id] ? ok(world.reports[id]) : answerOf('draft-report'))],
  ['GET', /^\/runs\/([^/]+)$/, showRun],
  ['POST', /^\/runs\/([^/]+)\/rerun$/, rerunRun],
  ['POST', /^\/runs\/([^/]+)\/cancel$/, cancelRun],
  ['POST', /^\/campaigns\/([^/]+)\/rerun$/, rerunCampaign],
]

/** What the stand-in server says to a request; a path that nobody recorded is a fault of the test. */
export function answer(world: World, method: string, path: string, body: Body): Answer {
  if (method === 'GET' && path in world.instead) return ok(world.instead[path])
  for (const [verb, pattern, respond] of ROUTES) {
    const match = verb === method ? pattern.exec(path) : null
    const found = match ? respond(world, match.slice(1), body) : null
    if (found) return found
  }
  const message = `Nobody recorded ${method} ${path} (backend/tests/fixtures/story.py).`
  return answerTo(method, path) ?? { status: 501, body: { code: 'not_recorded', message, details: {} } satisfies Problem }
}
