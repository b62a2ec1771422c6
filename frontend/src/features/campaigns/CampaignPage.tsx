import { Tabs } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { CampaignDetail } from '@/api/types'
import { plural } from '@/lib/format'
import { campaignState } from '@/lib/states'
import { PageHeader } from '@/ui/PageHeader'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { CampaignActions } from './CampaignActions'
import { DraftConflicts } from './Conflicts'
import { DownloadsTab } from './DownloadsTab'
import { ExitsTab } from './exits/ExitsTab'
import { LimitsTab } from './limits/LimitsTab'
import { OriginTag } from './OriginTag'
import { PlanTab } from './PlanTab'
import { ProgressPanel } from './ProgressPanel'
import { useCampaign } from './queries'
import { RunsTab } from './RunsTab'
import { ResultsTab } from './results/ResultsTab'
import type { CampaignSearch } from './search'
import { StatisticsTab } from './statistics/StatisticsTab'
import { stopText } from './wording'

const route = getRouteApi('/shell/campaigns/$campaignId')

export function CampaignPage() {
  const { campaignId } = route.useParams()
  const campaign = useCampaign(campaignId)
  return (
    <QueryPanel query={campaign} skeletonRows={12}>
      {(data) => <Content campaign={data} />}
    </QueryPanel>
  )
}

function Content({ campaign }: { campaign: CampaignDetail }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<CampaignSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true, resetScroll: false })
  const tab = search.tab ?? (campaign.state === 'draft' ? 'plan' : 'results')
  return (
    <>
      <PageHeader
        trail={<Link to="/campaigns">Campaigns</Link>}
        title={campaign.name}
        badges={
          <>
            <StateBadge {...campaignState(campaign)} />
            <OriginTag campaign={campaign} />
          </>
        }
        description={<Subtitle campaign={campaign} />}
        actions={<CampaignActions campaign={campaign} />}
      />
      <ProgressPanel campaign={campaign} />
      {campaign.state === 'draft' ? <DraftConflicts source={campaign.source} /> : null}
      <Tabs value={tab} onChange={(value) => change({ tab: (value ?? undefined) as CampaignSearch['tab'] })} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="results">Results</Tabs.Tab>
          <Tabs.Tab value="exits">Slow-start exits</Tabs.Tab>
          <Tabs.Tab value="statistics">Statistics</Tabs.Tab>
          <Tabs.Tab value="limits">Limits</Tabs.Tab>
          <Tabs.Tab value="runs">Runs</Tabs.Tab>
          <Tabs.Tab value="plan">Plan</Tabs.Tab>
          <Tabs.Tab value="downloads">Downloads</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="results">
          <ResultsTab campaign={campaign} search={search} onSearch={change} />
        </Tabs.Panel>
        <Tabs.Panel value="exits">
          <ExitsTab campaign={campaign} search={search} onSearch={change} />
        </Tabs.Panel>
        <Tabs.Panel value="statistics">
          <StatisticsTab campaign={campaign} search={search} onSearch={change} />
        </Tabs.Panel>
        <Tabs.Panel value="limits">
          <LimitsTab campaign={campaign} search={search} onSearch={change} />
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <RunsTab campaign={campaign} search={search} onSearch={change} />
        </Tabs.Panel>
        <Tabs.Panel value="plan">
          <PlanTab campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="downloads">
          <DownloadsTab campaign={campaign} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Subtitle({ campaign }: { campaign: CampaignDetail }) {
  const { spec } = campaign
  if (campaign.origin === 'imported') return `${plural(campaign.runs_total, 'run')} from files of other tools`
  const facts = [
    `Link ${spec.links.join(', ')}`,
    plural(spec.conditions.length, 'condition'),
    spec.timetable.cycles ? plural(spec.timetable.cycles, 'cycle') : `${spec.timetable.duration_h} h`,
    stopText(spec),
  ]
  return (
    <>
      <div>{facts.join(' · ')}</div>
      {spec.notes ? <div>{spec.notes}</div> : null}
    </>
  )
}
