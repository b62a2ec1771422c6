import type { QueryClient } from '@tanstack/react-query'
import {
  type AnyRouter,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouterHistory,
  redirect,
} from '@tanstack/react-router'
import { sessionQuery } from '@/api/session'
import { parseCalendarSearch } from '@/features/calendar/search'
import { campaignQuery } from '@/features/campaigns/queries'
import { parseCampaignsSearch } from '@/features/campaigns/search'
import { VIEWS, type View } from '@/features/drafts/views'
import { parsePathSearch } from '@/features/paths/search'
import { reportQuery } from '@/features/results/queries'
import { oneOf, text } from '@/lib/search'
import { loadPage } from './lostFiles'
import { BarePageError, NotFound, PageError } from './PageError'
import { parseCampaignSearch } from './pages/campaignTabs'
import { parseCompareSearch } from './pages/compareSearch'
import { parseRunSearch } from './pages/runTabs'
import { parseSharedSearch } from './pages/sharedTabs'
import { Shell } from './Shell'

const root = createRootRouteWithContext<{ cache: QueryClient }>()({ component: Outlet, notFoundComponent: NotFound })

/** Addresses within this site only: a sign-in must not lead elsewhere. */
function localPath(value: unknown): string | undefined {
  return typeof value === 'string' && /^\/(?![/\\])/.test(value) ? value : undefined
}

const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/session/SetupPage')), 'SetupPage'),
})

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search: Record<string, unknown>): { next?: string | undefined } => ({ next: localPath(search.next) }),
  component: lazyRouteComponent(() => loadPage(() => import('@/features/session/LoginPage')), 'LoginPage'),
})

/** Without an account: what an invitation's link opens. */
const invited = createRoute({
  getParentRoute: () => root,
  path: '/invited',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/session/InvitedPage')), 'InvitedPage'),
})

/** Without an account: what a share link opens. */
const sharedLink = createRoute({
  getParentRoute: () => root,
  path: '/shared',
  component: lazyRouteComponent(() => loadPage(() => import('./pages/SharedLinkPage')), 'SharedLinkPage'),
})

const sharedCampaign = createRoute({
  getParentRoute: () => root,
  path: '/shared/$campaignId',
  validateSearch: parseSharedSearch,
  errorComponent: BarePageError,
  component: lazyRouteComponent(() => loadPage(() => import('./pages/SharedCampaignPage')), 'SharedCampaignPage'),
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  errorComponent: BarePageError,
  beforeLoad: async ({ context, location }) => {
    const session = await context.cache.ensureQueryData(sessionQuery)
    if (!session) throw redirect({ to: '/login', search: { next: location.pathname === '/' ? undefined : location.href } })
  },
})

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/campaigns' })
  },
})

const campaigns = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns',
  validateSearch: parseCampaignsSearch,
  component: lazyRouteComponent(() => loadPage(() => import('./pages/StartPage')), 'StartPage'),
})

const newCampaign = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns/new',
  validateSearch: (search: Record<string, unknown>): { start?: string | undefined; view?: View | undefined } => ({
    start: text(search.start),
    view: oneOf(search.view, VIEWS),
  }),
  component: lazyRouteComponent(() => loadPage(() => import('./pages/NewCampaignPage')), 'NewCampaignPage'),
})

const importFiles = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns/import',
  validateSearch: (search: Record<string, unknown>): { into?: string | undefined } => ({ into: text(search.into) }),
  component: lazyRouteComponent(() => loadPage(() => import('@/features/imports/ImportPage')), 'ImportPage'),
})

const campaign = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns/$campaignId',
  validateSearch: parseCampaignSearch,
  component: lazyRouteComponent(() => loadPage(() => import('./pages/CampaignPage')), 'CampaignPage'),
  // Asked for beside the page's script, not after it: over a satellite each waits for 600 ms.
  loader: ({ context: { cache }, params: { campaignId }, location }) => {
    const isResults = (parseCampaignSearch(location.search).tab ?? 'results') === 'results'
    void cache.prefetchQuery(campaignQuery(campaignId))
    if (isResults) void cache.prefetchQuery(reportQuery(campaignId))
  },
})

const report = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns/$campaignId/report',
  component: lazyRouteComponent(() => loadPage(() => import('./pages/ReportPage')), 'ReportPage'),
})

const editDraft = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns/$campaignId/edit',
  validateSearch: (search: Record<string, unknown>): { view?: View | undefined } => ({ view: oneOf(search.view, VIEWS) }),
  component: lazyRouteComponent(() => loadPage(() => import('./pages/EditDraftPage')), 'EditDraftPage'),
})

const calendar = createRoute({
  getParentRoute: () => shell,
  path: '/calendar',
  validateSearch: parseCalendarSearch,
  component: lazyRouteComponent(() => loadPage(() => import('@/features/calendar/CalendarPage')), 'CalendarPage'),
})

const compare = createRoute({
  getParentRoute: () => shell,
  path: '/compare',
  validateSearch: parseCompareSearch,
  component: lazyRouteComponent(() => loadPage(() => import('./pages/ComparePage')), 'ComparePage'),
})

const reproduction = createRoute({
  getParentRoute: () => shell,
  path: '/reproduction',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/reproduction/ReproductionPage')), 'ReproductionPage'),
})

const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$runId',
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => loadPage(() => import('./pages/RunPage')), 'RunPage'),
})

const agents = createRoute({
  getParentRoute: () => shell,
  path: '/agents',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/agents/AgentsPage')), 'AgentsPage'),
})

const links = createRoute({
  getParentRoute: () => shell,
  path: '/links',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/links/LinksPage')), 'LinksPage'),
})

const paths = createRoute({
  getParentRoute: () => shell,
  path: '/paths',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/paths/PathsPage')), 'PathsPage'),
})

const path = createRoute({
  getParentRoute: () => shell,
  path: '/paths/$pathId',
  validateSearch: parsePathSearch,
  component: lazyRouteComponent(() => loadPage(() => import('@/features/paths/PathPage')), 'PathPage'),
})

const tokens = createRoute({
  getParentRoute: () => shell,
  path: '/tokens',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/session/TokensPage')), 'TokensPage'),
})

const people = createRoute({
  getParentRoute: () => shell,
  path: '/people',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/people/PeoplePage')), 'PeoplePage'),
})

const notifications = createRoute({
  getParentRoute: () => shell,
  path: '/notifications',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/notifications/NotificationsPage')), 'NotificationsPage'),
})

const storage = createRoute({
  getParentRoute: () => shell,
  path: '/storage',
  component: lazyRouteComponent(() => loadPage(() => import('@/features/retention/StoragePage')), 'StoragePage'),
})

const tree = root.addChildren([
  setup,
  login,
  invited,
  sharedLink,
  sharedCampaign,
  shell.addChildren([
    home,
    campaigns,
    newCampaign,
    importFiles,
    campaign,
    report,
    editDraft,
    run,
    calendar,
    compare,
    reproduction,
    agents,
    links,
    paths,
    path,
    tokens,
    people,
    notifications,
    storage,
  ]),
])

export function createAppRouter(cache: QueryClient, history?: RouterHistory) {
  const router = createRouter({
    routeTree: tree,
    context: { cache },
    defaultErrorComponent: PageError,
    notFoundMode: 'root',
    scrollRestoration: true,
    ...(history ? { history } : {}),
  })
  // Browsers ask for six things of one server at a time: who is signed in comes first.
  if (!router.latestLocation.pathname.startsWith('/shared')) void cache.prefetchQuery(sessionQuery)
  setTimeout(() => loadScripts(router))
  return router
}

/** Those of the first page, while its session is still asked for. What fails is asked for again when the page is drawn. */
function loadScripts(router: AnyRouter): void {
  for (const { routeId } of router.matchRoutes(router.latestLocation)) void router.routesById[routeId]?.options.component?.preload?.()
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
