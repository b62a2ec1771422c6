import { parseDaySearch } from '@/features/days/search'
import { parseCampaignExitsSearch } from '@/features/exits/search'
import { parseLimitsSearch } from '@/features/limits/search'
import { parseResultsSearch } from '@/features/results/campaign/search'
import { parseRunsSearch } from '@/features/runs/search'
import { parseStatisticsSearch } from '@/features/statistics/search'
import { nothing, parseSearchOf, type SearchOf } from './tabs'

export const CAMPAIGN_TABS = {
  results: { title: 'Results', parseSearch: parseResultsSearch },
  day: { title: 'Day', parseSearch: parseDaySearch },
  exits: { title: 'Slow-start exits', parseSearch: parseCampaignExitsSearch },
  statistics: { title: 'Statistics', parseSearch: parseStatisticsSearch },
  limits: { title: 'Limits', parseSearch: parseLimitsSearch },
  runs: { title: 'Runs', parseSearch: parseRunsSearch },
  plan: { title: 'Plan', parseSearch: nothing },
  downloads: { title: 'Downloads', parseSearch: nothing },
  storage: { title: 'Storage', parseSearch: nothing },
} as const

export type CampaignSearch = SearchOf<typeof CAMPAIGN_TABS>
export const parseCampaignSearch = parseSearchOf(CAMPAIGN_TABS)
