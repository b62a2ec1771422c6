/** @typedef {import('playwright-core').Page} Page */
/**
 * isBrief: made of parts that other pages show in both schemes of each width, so that one scheme of each does.
 * @typedef {{name: string, path: string, isBrief?: boolean, prepare?: (page: Page) => Promise<void>}} PageCase
 */

/** @type {PageCase[]} */
const FIXED = [
  { name: 'login', path: '/login' },
  {
    name: 'setup',
    path: '/setup',
    isBrief: true,
    prepare: (page) => page.getByRole('button').or(page.getByRole('link')).first().waitFor(),
  },
  { name: 'campaigns', path: '/campaigns' },
  { name: 'templates', path: '/campaigns/new', prepare: (page) => page.getByRole('list', { name: 'Templates' }).waitFor() },
  {
    name: 'new-campaign',
    path: '/campaigns/new?start=hystart',
    prepare: (page) => page.getByRole('heading', { name: 'Timeline' }).or(page.getByRole('alert')).first().waitFor(),
  },
  {
    name: 'new-campaign-matrix',
    path: '/campaigns/new?start=buffers',
    isBrief: true,
    prepare: (page) => page.getByText('16 conditions, every combination').waitFor(),
  },
  {
    name: 'new-campaign-yaml',
    path: '/campaigns/new?start=hystart&view=yaml',
    prepare: (page) => page.getByRole('textbox', { name: 'Campaign file' }).waitFor(),
  },
  { name: 'import', path: '/campaigns/import', isBrief: true },
  { name: 'agents', path: '/agents' },
  {
    name: 'agents-name',
    path: '/agents',
    isBrief: true,
    prepare: (page) => page.getByRole('button', { name: 'Add agent' }).click(),
  },
  {
    name: 'agents-join',
    path: '/agents',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Add agent' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('looked-at')
      await page.getByRole('button', { name: 'Show what to type' }).click()
      await page.getByLabel('The join command').waitFor()
    },
  },
  {
    name: 'agents-pause',
    path: '/agents',
    isBrief: true,
    prepare: async (page) => {
      await page
        .getByRole('button', { name: /^Pause / })
        .first()
        .click()
      await page.getByLabel('How long').waitFor()
    },
  },
  {
    name: 'agents-revoke',
    path: '/agents',
    prepare: async (page) => {
      await page
        .getByRole('button', { name: /^Revoke / })
        .first()
        .click()
      await page.getByRole('button', { name: 'Keep' }).waitFor()
    },
  },
  { name: 'people', path: '/people', prepare: (page) => page.getByRole('group', { name: 'Record of changes' }).waitFor() },
  { name: 'links', path: '/links' },
  { name: 'paths', path: '/paths' },
  {
    name: 'paths-form',
    path: '/paths',
    isBrief: true,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Make a path' }).first().click()
      await page.getByRole('button', { name: 'Make path', exact: true }).waitFor()
    },
  },
  { name: 'calendar', path: '/calendar?days=28', prepare: (page) => page.getByRole('navigation', { name: 'Days' }).waitFor() },
  { name: 'reproduction', path: '/reproduction' },
  { name: 'compare-empty', path: '/compare', isBrief: true },
  {
    name: 'links-form',
    path: '/links',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Add link' }).first().click()
      await page.getByLabel('Nominal rate').waitFor()
    },
  },
  {
    name: 'links-quick-test',
    path: '/links',
    prepare: async (page) => {
      await page
        .getByRole('button', { name: /^Quick test on/ })
        .first()
        .click()
      await page.getByRole('button', { name: 'Start' }).waitFor()
    },
  },
  { name: 'tokens', path: '/tokens' },
  { name: 'notifications', path: '/notifications' },
  { name: 'storage', path: '/storage', prepare: (page) => page.getByRole('heading', { name: 'Room' }).waitFor() },
  { name: 'api-docs', path: '/api/v1/docs', prepare: (page) => page.getByText('GET /api/v1/campaigns', { exact: true }).click() },
  { name: 'nowhere', path: '/no/such/page' },
]

/**
 * Every page of what runs there: the fixed ones, each campaign with its tabs, one run of each state.
 * @param {import('playwright-core').Browser} browser
 * @param {{baseUrl: string, storageState?: any}} options
 * @returns {Promise<PageCase[]>}
 */
export async function findPages(browser, { baseUrl, storageState }) {
  const context = await browser.newContext({ storageState })
  /** @param {string} path */
  const items = async (path) => (await (await context.request.get(new URL(`/api/v1${path}`, baseUrl).href)).json()).items ?? []
  /** @type {PageCase[]} */
  const found = []
  /** @type {Map<string, string>} */
  const runs = new Map()
  // One of each state; a path that is made is drawn on its map.
  /** @type {Map<string, string>} */
  const paths = new Map()
  for (const path of await items('/paths')) if (!paths.has(path.state)) paths.set(path.state, path.id)
  for (const [state, id] of paths)
    found.push({
      name: `path-${state}`,
      path: `/paths/${id}`,
      prepare: async (page) => {
        if (state === 'ready') await page.getByRole('img', { name: /^Map/ }).waitFor()
      },
    })
  /** Campaigns by what their pages are made of. @type {Set<string>} */
  const kinds = new Set()
  for (const [index, campaign] of (await items('/campaigns')).entries()) {
    const base = `/campaigns/${campaign.id}`
    const kind = `${campaign.state} ${campaign.origin} ${campaign.conditions.length}`
    found.push({ name: `campaign-${index + 1}-${campaign.state}`, path: base, isBrief: kinds.has(kind) })
    kinds.add(kind)
    for (const run of await items(`${base}/runs`)) if (!runs.has(run.state)) runs.set(run.state, run.id)
    if (index > 0) continue
    for (const tab of ['day', 'runs', 'plan', 'downloads']) found.push({ name: `campaign-1-${tab}`, path: `${base}?tab=${tab}` })
    found.push({
      name: 'campaign-1-report',
      path: `${base}/report`,
      prepare: (page) => page.getByRole('heading', { name: 'Limits of the study' }).waitFor(),
    })
    found.push({ name: 'compare', path: compareAddress(campaign), isBrief: true })
    found.push({ name: 'campaign-1-side-by-side', path: `${base}?layout=columns`, isBrief: true })
    found.push({
      name: 'campaign-1-save-menu',
      path: base,
      isBrief: true,
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Save the whole stack' }).click()
        await page.getByRole('menuitem', { name: /^CSV/ }).waitFor()
      },
    })
    found.push({
      name: 'campaign-1-account-menu',
      path: base,
      isBrief: true,
      prepare: async (page) => {
        await page.getByRole('banner').locator('[aria-haspopup=menu]').click()
        await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
      },
    })
    for (const tab of ['exits', 'statistics', 'limits'])
      found.push({ name: `campaign-1-${tab}`, path: `${base}?tab=${tab}`, isBrief: true })
  }
  for (const [state, id] of runs) {
    found.push({ name: `run-${state}`, path: `/runs/${id}` })
    if (state === 'complete')
      for (const tab of ['settings', 'events', 'raw', 'traces', 'exits', 'limits', 'link', 'hops'])
        found.push({ name: `run-${tab}`, path: `/runs/${id}?tab=${tab}`, isBrief: tab === 'exits' || tab === 'limits' || tab === 'hops' })
  }
  await context.close()
  return [...FIXED, ...found]
}

/** A campaign's conditions beside each other. @param {{id: string, links: string[], conditions: string[]}} campaign */
function compareAddress({ id, links, conditions }) {
  const sides = conditions.slice(0, 8).map((condition) => `${id}/1/${links[0]}/${condition}`)
  return `/compare?side=${encodeURIComponent(JSON.stringify(sides))}`
}
