/** @typedef {import('playwright-core').Page} Page */
/**
 * text: what the picture shows, in one sentence. isPublic: seen without an account.
 * @typedef {{name: string, path: string, text: string, isPublic?: boolean, prepare?: (page: Page) => Promise<unknown>}} GalleryPage
 */

/** @type {(name: string | RegExp) => (page: Page) => Promise<void>} */
const heading = (name) => (page) => page.getByRole('heading', { name }).first().waitFor()

/** @type {GalleryPage[]} */
const MAKING = [
  {
    name: 'templates',
    path: '/campaigns/new',
    text: 'A campaign begins with a template: each says what it answers and which figure it gives.',
  },
  {
    name: 'form',
    path: '/campaigns/new?start=hystart',
    text: 'The form of a campaign, beside what it would do: order, times, volume, and whether every host can run it.',
    prepare: (page) => page.getByRole('heading', { name: 'Timeline' }).or(page.getByText('This cannot be launched yet')).first().waitFor(),
  },
  {
    name: 'form-matrix',
    path: '/campaigns/new?start=buffers',
    text: 'Factors and their levels make the conditions: 2 × 4 × 2 buffers are 16.',
    prepare: (page) => page.getByText('16 conditions, every combination').waitFor(),
  },
  {
    name: 'form-yaml',
    path: '/campaigns/new?start=hystart&view=yaml',
    text: 'The same campaign as a file, with completion and errors at their lines.',
    prepare: (page) => page.getByRole('textbox', { name: 'Campaign file' }).waitFor(),
  },
]

/** @type {GalleryPage[]} */
const AROUND = [
  { name: 'links', path: '/links', text: 'Links: what is known of each, its profile, and a quick test in two clicks.' },
  {
    name: 'links-weather',
    path: '/links',
    text: 'Dish and weather of a link over the last day, and the door for the file of a weather station.',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Dish and weather of geo-20mbps' }).click()
      await page.getByRole('dialog').getByText('weather.rain').or(page.getByRole('dialog').getByText('Rain')).first().waitFor()
    },
  },
  { name: 'agents', path: '/agents', text: 'Agents: which hosts are there, what they can do, and how another one joins.' },
  {
    name: 'calendar',
    path: '/calendar?days=28',
    text: 'Past, running and planned runs of all campaigns on all links.',
    prepare: (page) => page.getByRole('navigation', { name: 'Days' }).waitFor(),
  },
  { name: 'reproduction', path: '/reproduction', text: 'Published values beside what the studies here found.' },
  {
    name: 'storage',
    path: '/storage',
    text: 'What takes the room, what would go by each campaign’s rules and when, and what is kept for good.',
    prepare: heading('Room'),
  },
  { name: 'people', path: '/people', text: 'People, their roles, invitations, sessions, and the log of what was done.' },
  { name: 'notifications', path: '/notifications', text: 'Where news of campaigns, agents and budgets goes.' },
  { name: 'import', path: '/campaigns/import', text: 'Files of other tools become runs.' },
  { name: 'tokens', path: '/tokens', text: 'Access tokens for scripts, with scope and end.' },
  { name: 'api', path: '/api/v1/docs', text: 'The REST API: parameters, bodies and answers, served locally.' },
  { name: 'login', path: '/login', text: 'Signing in.', isPublic: true },
]

/**
 * Every page that the gallery shows, of what this stack holds.
 * @param {import('playwright-core').Browser} browser
 * @param {string} baseUrl
 * @param {any} storageState
 * @returns {Promise<GalleryPage[]>}
 */
export async function galleryPages(browser, baseUrl, storageState) {
  const context = await browser.newContext({ storageState })
  /** @param {string} path */
  const items = async (path) => (await (await context.request.get(new URL(`/api/v1${path}`, baseUrl).href)).json()).items ?? []
  const campaigns = await items('/campaigns')
  const running = campaigns.find((/** @type {any} */ { state }) => state === 'running')
  const complete = (/** @type {RegExp} */ name) => {
    const found = campaigns.find((/** @type {any} */ one) => name.test(one.name) && one.state === 'complete')
    if (!found) throw new Error(`no complete campaign is called ${name}`)
    return found
  }
  const pair = complete(/^Demo: HyStart/)
  const leo = complete(/^Study 002: .*LEO/)
  const buffers = complete(/^Buffers/)
  const [leoRun] = await items(`/campaigns/${leo.id}/runs?state=complete`)
  const [pairRun] = await items(`/campaigns/${pair.id}/runs?state=complete`)
  const path = (await items('/paths')).find((/** @type {any} */ { state }) => state === 'ready')
  await context.close()
  return [
    { name: 'campaigns', path: '/campaigns', text: 'All campaigns, with state, tags and links; searched, filtered and sorted.' },
    ...MAKING,
    ...(running ? livePages(running) : []),
    ...pairPages(pair),
    ...leoPages(leo),
    ...manyPages(buffers),
    ...runPages(pairRun, leoRun),
    ...(path ? pathPages(path) : []),
    ...AROUND,
  ]
}

/** @param {{id: string}} campaign @returns {GalleryPage[]} */
function livePages({ id }) {
  return [
    {
      name: 'campaign-live',
      path: `/campaigns/${id}`,
      text: 'While a campaign runs: its flows of the last minutes from the sender’s side, what is next, when it ends.',
      prepare: (page) => page.getByRole('list', { name: 'Runs under way' }).waitFor({ timeout: 60_000 }),
    },
    { name: 'campaign-plan', path: `/campaigns/${id}?tab=plan`, text: 'The plan: every run in its order, with clock times.' },
  ]
}

/** @param {{id: string, links: string[], conditions: string[]}} campaign @returns {GalleryPage[]} */
function pairPages({ id, links, conditions }) {
  const base = `/campaigns/${id}`
  const sides = conditions.map((condition) => `${id}/1/${links[0]}/${condition}`)
  return [
    {
      name: 'campaign',
      path: base,
      text: 'Cubic with HyStart on and off over a GEO link: the single runs and their mean, second by second.',
    },
    {
      name: 'campaign-exits',
      path: `${base}?tab=exits`,
      text: 'When slow start ended, when it should have, and what each detector would have done.',
    },
    {
      name: 'campaign-statistics',
      path: `${base}?tab=statistics`,
      text: 'Differences with their intervals, and what so few runs cannot show.',
    },
    {
      name: 'compare',
      path: `/compare?side=${encodeURIComponent(JSON.stringify(sides))}`,
      text: 'Conditions of any campaigns beside each other, with one baseline.',
    },
    {
      name: 'report',
      path: `${base}/report`,
      text: 'The report: question, method, figures with captions, tables, and the limits of the study; made to be printed.',
      prepare: heading('Limits of the study'),
    },
    {
      name: 'campaign-limits',
      path: `${base}?tab=limits`,
      text: 'What limited the flows: congestion window, receive window, send buffer or the application.',
    },
    {
      name: 'campaign-downloads',
      path: `${base}?tab=downloads`,
      text: 'Every table as CSV, with its rows, its size and its first lines.',
      prepare: async (page) => {
        await page
          .getByText(/^[\d,]+ rows?, /)
          .first()
          .waitFor()
        await page.getByText('Counting rows').last().waitFor({ state: 'detached' })
      },
    },
  ]
}

/** @param {{id: string}} campaign @returns {GalleryPage[]} */
function leoPages({ id }) {
  const base = `/campaigns/${id}`
  return [
    { name: 'leo', path: base, text: 'Sixty runs over an emulated LEO link: mean and 95 % band.' },
    { name: 'leo-exits', path: `${base}?tab=exits`, text: 'Slow-start exits of SEARCH over 60 runs, as Table I of the paper.' },
    { name: 'leo-day', path: `${base}?tab=day`, text: 'Every run over the clock; gaps are gaps, night is shaded.' },
    { name: 'leo-runs', path: `${base}?tab=runs`, text: 'The runs, with state and reason; a click opens one.' },
  ]
}

/** @param {{id: string}} campaign @returns {GalleryPage[]} */
function manyPages({ id }) {
  const base = `/campaigns/${id}`
  return [
    { name: 'buffers', path: base, text: 'A buffer study of 16 conditions: one column each, and any of them as the baseline.' },
    { name: 'buffers-statistics', path: `${base}?tab=statistics`, text: 'The 16 conditions’ distributions, dot by dot.' },
  ]
}

/** @param {{id: string}} pair @param {{id: string}} leo @returns {GalleryPage[]} */
function runPages(pair, leo) {
  return [
    { name: 'run', path: `/runs/${pair.id}`, text: 'One run.' },
    {
      name: 'run-samples',
      path: `/runs/${leo.id}?tab=raw`,
      text: 'Every field of sender, receiver and link log under one cursor; a drag zooms down to single samples.',
      prepare: (page) => page.getByRole('button', { name: 'Zoom in' }).waitFor(),
    },
    { name: 'run-exits', path: `/runs/${pair.id}?tab=exits`, text: 'Slow start of one run: detectors beside the kernel.' },
    { name: 'run-settings', path: `/runs/${pair.id}?tab=settings`, text: 'Asked and actual settings of both hosts.' },
    { name: 'run-events', path: `/runs/${leo.id}?tab=events`, text: 'What happened to the run, and when.' },
    {
      name: 'run-link',
      path: `/runs/${leo.id}?tab=link`,
      text: 'What the emulated link did during the run: queue, rate, drops and delay.',
    },
  ]
}

/** @param {{id: string}} path @returns {GalleryPage[]} */
function pathPages({ id }) {
  return [
    { name: 'paths', path: '/paths', text: 'Paths through a constellation: ready-made ones, and those made here.' },
    {
      name: 'path',
      path: `/paths/${id}`,
      text: 'A path over the world, and its delay, hops and changes over time.',
      prepare: (page) => page.getByRole('img', { name: /^Map/ }).waitFor(),
    },
  ]
}
