/** @typedef {import('playwright-core').Page} Page */
/**
 * text: what the picture shows, in a few words. isPublic: seen without an account.
 * @typedef {{name: string, path: string, text: string, isPublic?: boolean, prepare?: (page: Page) => Promise<unknown>}} GalleryPage
 */

/** @type {(name: string | RegExp) => (page: Page) => Promise<void>} */
const heading = (name) => (page) => page.getByRole('heading', { name }).first().waitFor()

/** @type {GalleryPage[]} */
const MAKING = [
  {
    name: 'templates',
    path: '/campaigns/new',
    text: 'Questions and figures.',
  },
  {
    name: 'form',
    path: '/campaigns/new?start=hystart',
    text: 'Form and preview.',
    prepare: (page) => page.getByRole('heading', { name: 'Timeline' }).or(page.getByText('This cannot be launched yet')).first().waitFor(),
  },
  {
    name: 'form-matrix',
    path: '/campaigns/new?start=buffers',
    text: '2 × 4 × 2 buffers.',
    prepare: (page) => page.getByText('16 conditions, every combination').waitFor(),
  },
  {
    name: 'form-yaml',
    path: '/campaigns/new?start=hystart&view=yaml',
    text: 'Campaign file.',
    prepare: (page) => page.getByRole('textbox', { name: 'Campaign file' }).waitFor(),
  },
]

/** @type {GalleryPage[]} */
const AROUND = [
  { name: 'links', path: '/links', text: 'Profiles, quick test.' },
  {
    name: 'links-weather',
    path: '/links',
    text: 'Dish and weather.',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Dish and weather of geo-20mbps' }).click()
      await page.getByRole('dialog').getByText('weather.rain').or(page.getByRole('dialog').getByText('Rain')).first().waitFor()
    },
  },
  { name: 'agents', path: '/agents', text: 'Hosts, enrolment.' },
  {
    name: 'calendar',
    path: '/calendar?days=28',
    text: 'Runs by day.',
    prepare: (page) => page.getByRole('navigation', { name: 'Days' }).waitFor(),
  },
  { name: 'reproduction', path: '/reproduction', text: 'Published beside ours.' },
  {
    name: 'storage',
    path: '/storage',
    text: 'Use and retention.',
    prepare: heading('Room'),
  },
  { name: 'people', path: '/people', text: 'Roles, invitations, log.' },
  { name: 'notifications', path: '/notifications', text: 'Destinations.' },
  { name: 'import', path: '/campaigns/import', text: 'Other tools’ files.' },
  { name: 'tokens', path: '/tokens', text: 'For scripts.' },
  { name: 'api', path: '/api/v1/docs', text: 'REST API.' },
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
    { name: 'campaigns', path: '/campaigns', text: 'Search and filter.' },
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
      text: 'Running campaign.',
      prepare: (page) => page.getByRole('list', { name: 'Runs under way' }).waitFor({ timeout: 60_000 }),
    },
    { name: 'campaign-plan', path: `/campaigns/${id}?tab=plan`, text: 'Runs in order.' },
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
      text: 'HyStart on, off.',
    },
    {
      name: 'campaign-exits',
      path: `${base}?tab=exits`,
      text: 'Slow-start exits.',
    },
    {
      name: 'campaign-statistics',
      path: `${base}?tab=statistics`,
      text: 'Differences, intervals.',
    },
    {
      name: 'compare',
      path: `/compare?side=${encodeURIComponent(JSON.stringify(sides))}`,
      text: 'Conditions, one baseline.',
    },
    {
      name: 'report',
      path: `${base}/report`,
      text: 'For printing.',
      prepare: heading('Limits of the study'),
    },
    {
      name: 'campaign-limits',
      path: `${base}?tab=limits`,
      text: 'What limited flows.',
    },
    {
      name: 'campaign-downloads',
      path: `${base}?tab=downloads`,
      text: 'CSV tables.',
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
    { name: 'leo', path: base, text: '60 LEO runs.' },
    { name: 'leo-exits', path: `${base}?tab=exits`, text: 'SEARCH’s exits.' },
    { name: 'leo-day', path: `${base}?tab=day`, text: 'By clock time.' },
    { name: 'leo-runs', path: `${base}?tab=runs`, text: 'States, reasons.' },
  ]
}

/** @param {{id: string}} campaign @returns {GalleryPage[]} */
function manyPages({ id }) {
  const base = `/campaigns/${id}`
  return [
    { name: 'buffers', path: base, text: '16 conditions.' },
    { name: 'buffers-statistics', path: `${base}?tab=statistics`, text: 'Distributions.' },
  ]
}

/** @param {{id: string}} pair @param {{id: string}} leo @returns {GalleryPage[]} */
function runPages(pair, leo) {
  return [
    { name: 'run', path: `/runs/${pair.id}`, text: 'One run.' },
    {
      name: 'run-samples',
      path: `/runs/${leo.id}?tab=raw`,
      text: 'All fields.',
      prepare: (page) => page.getByRole('button', { name: 'Zoom in' }).waitFor(),
    },
    { name: 'run-exits', path: `/runs/${pair.id}?tab=exits`, text: 'Slow start.' },
    { name: 'run-settings', path: `/runs/${pair.id}?tab=settings`, text: 'Requested, actual.' },
    { name: 'run-events', path: `/runs/${leo.id}?tab=events`, text: 'Event log.' },
    {
      name: 'run-link',
      path: `/runs/${leo.id}?tab=link`,
      text: 'Queue, rate, drops.',
    },
  ]
}

/** @param {{id: string}} path @returns {GalleryPage[]} */
function pathPages({ id }) {
  return [
    { name: 'paths', path: '/paths', text: 'Constellation paths.' },
    {
      name: 'path',
      path: `/paths/${id}`,
      text: 'Map, delay, hops.',
      prepare: (page) => page.getByRole('img', { name: /^Map/ }).waitFor(),
    },
  ]
}
