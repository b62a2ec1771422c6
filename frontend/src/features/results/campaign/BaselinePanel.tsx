import { NativeSelect } from '@mantine/core'
import { useStatisticsAgainst } from '@/api/statistics'
import type { CampaignDetail, PhaseName, Report } from '@/api/types'
import { QueryPanel } from '@/ui/QueryPanel'
import { ComparisonsPanel } from './ComparisonsPanel'
import type { ResultsSearch } from './search'
import type { LabelledGroup } from './series'

interface BaselinePanelProps {
  campaign: CampaignDetail
  report: Report
  groups: readonly LabelledGroup[]
  link: string
  phase: PhaseName
  search: ResultsSearch
  onSearch: (change: ResultsSearch) => void
}

/** Differences to the campaign's first condition, which the report has, or to another one. */
export function BaselinePanel({ campaign, report, groups, link, phase, search, onSearch }: BaselinePanelProps) {
  const conditions = campaign.spec.conditions.map(({ name }) => name)
  const baseline = conditions.find((name) => name === search.baseline) ?? conditions[0] ?? ''
  const actions =
    conditions.length > 1 ? (
      <NativeSelect
        size="xs"
        w={200}
        aria-label="Baseline"
        value={baseline}
        data={conditions}
        onChange={({ currentTarget: { value } }) => onSearch({ baseline: value === conditions[0] ? undefined : value })}
      />
    ) : null
  const shared = { groups, phase, actions }
  return baseline === conditions[0] ? (
    <ComparisonsPanel {...shared} comparisons={report.comparisons.filter((one) => one.link === link)} />
  ) : (
    <Against {...shared} campaignId={campaign.id} {...{ baseline, link }} />
  )
}

type AgainstProps = Omit<Parameters<typeof ComparisonsPanel>[0], 'comparisons'> & { campaignId: string; baseline: string; link: string }

function Against({ campaignId, baseline, link, ...shared }: AgainstProps) {
  const statistics = useStatisticsAgainst(campaignId, baseline, shared.phase)
  return (
    <QueryPanel query={statistics} skeletonRows={8}>
      {({ comparisons }) => <ComparisonsPanel {...shared} comparisons={comparisons.filter((one) => one.link === link)} />}
    </QueryPanel>
  )
}
