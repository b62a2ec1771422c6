import { amount, choice, oneOf, sortOf, text, texts } from '@/lib/search'
import { RUN_STATES } from '@/lib/states'

export const TABS = ['results', 'exits', 'statistics', 'limits', 'runs', 'plan', 'downloads'] as const
export const PHASES = ['startup', 'steady', 'overall'] as const
export const RANGES = ['all', 'startup', 'steady'] as const

/** What a campaign page shows, as its address says it. Absent means the default. */
export interface CampaignSearch {
  tab?: (typeof TABS)[number] | undefined
  link?: string | undefined
  /** Series switched off in the legend, by label. */
  hide?: string[] | undefined
  flow?: number | undefined
  metric?: string | undefined
  phase?: (typeof PHASES)[number] | undefined
  range?: (typeof RANGES)[number] | undefined
  band?: 'off' | undefined
  state?: (typeof RUN_STATES)[number] | undefined
  condition?: string | undefined
  sort?: string | undefined
  /** Of the exits: whose distribution, and which detectors. */
  group?: string | undefined
  detectors?: string[] | undefined
  /** The sweep whose maps are shown, the parameters on their axes, and "name=value" for each that is held. */
  sweep?: string | undefined
  x?: string | undefined
  y?: string | undefined
  at?: string[] | undefined
}

export function parseCampaignSearch(search: Record<string, unknown>): CampaignSearch {
  const sort = text(search.sort)
  return {
    tab: oneOf(search.tab, TABS),
    link: text(search.link),
    hide: texts(search.hide),
    flow: amount(search.flow),
    metric: text(search.metric),
    phase: oneOf(search.phase, PHASES),
    range: oneOf(search.range, RANGES),
    band: oneOf(search.band, ['off']),
    state: oneOf(search.state, RUN_STATES),
    condition: text(search.condition),
    sort: sortOf(sort).length > 0 ? sort : undefined,
    group: text(search.group),
    detectors: choice(search.detectors),
    sweep: text(search.sweep),
    x: text(search.x),
    y: text(search.y),
    at: texts(search.at),
  }
}
