import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { CampaignDetail } from '@/api/types'
import { CampaignActions } from '@/features/campaigns/CampaignActions'
import { Description } from '@/features/campaigns/Description'
import { OriginTag } from '@/features/campaigns/OriginTag'
import { PrecisionPanel } from '@/features/campaigns/PrecisionPanel'
import { ProgressPanel } from '@/features/campaigns/ProgressPanel'
import { Provisional } from '@/features/campaigns/Provisional'
import { useCampaign } from '@/features/campaigns/queries'
import { TriggerPanel } from '@/features/campaigns/TriggerPanel'
import { startOf } from '@/features/compare/sides'
import { DraftConflicts } from '@/features/plan/Conflicts'
import { DraftLaunchFacts } from '@/features/plan/LaunchFacts'
import { clockTexts, cyclesText, stopText, triggerTexts, untilTexts } from '@/features/plan/wording'
import { ResultsTab } from '@/features/results/campaign/ResultsTab'
import { ShareButton } from '@/features/shares/ShareButton'
import { plural } from '@/lib/format'
import { changedBy, type SearchChange } from '@/lib/search'
import { campaignState } from '@/lib/states'
import { Allowed } from '@/ui/Allowed'
import { LazyPart } from '@/ui/LazyPart'
import { PageHeader } from '@/ui/PageHeader'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { CAMPAIGN_TABS, type CampaignSearch } from './campaignTabs'
import { PageTabs } from './PageTabs'
import type { Contents } from './tabs'

const route = getRouteApi('/shell/campaigns/$campaignId')

const loadNow = () => import('@/features/runs/NowRunning').then(({ NowRunning }) => NowRunning)

const CONTENTS: Contents<typeof CAMPAIGN_TABS, { campaign: CampaignDetail }> = {
  results: ResultsTab,
  day: { load: () => import('@/features/days/DayTab').then(({ DayTab }) => DayTab) },
  exits: { load: () => import('@/features/exits/campaign/ExitsTab').then(({ ExitsTab }) => ExitsTab) },
  statistics: { load: () => import('@/features/statistics/StatisticsTab').then(({ StatisticsTab }) => StatisticsTab) },
  limits: { load: () => import('@/features/limits/campaign/LimitsTab').then(({ LimitsTab }) => LimitsTab) },
  runs: { load: () => import('@/features/runs/RunsTab').then(({ RunsTab }) => RunsTab) },
  plan: { load: () => import('@/features/plan/PlanTab').then(({ PlanTab }) => PlanTab) },
  storage: { load: () => import('@/features/retention/RetentionTab').then(({ RetentionTab }) => RetentionTab) },
  downloads: { load: () => import('@/features/campaigns/DownloadsTab').then(({ DownloadsTab }) => DownloadsTab) },
}

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
  const change = (next: SearchChange<CampaignSearch>) => void navigate({ search: changedBy(next), replace: true, resetScroll: false })
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
        actions={
          <>
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/campaigns/$campaignId/report" params={{ campaignId: campaign.id }} {...props} />}
            >
              Report
            </Button>
            {campaign.counts.complete > 0 ? <CompareWith campaign={campaign} /> : null}
            <Allowed verb="share_campaign" owner={campaign.owner_id}>
              <ShareButton campaignId={campaign.id} />
            </Allowed>
            <CampaignActions campaign={campaign} launchFacts={<DraftLaunchFacts source={campaign.source} />} />
          </>
        }
      />
      <ProgressPanel campaign={campaign}>{(now) => <LazyPart load={loadNow} props={{ campaign, now }} waiting={null} />}</ProgressPanel>
      <TriggerPanel campaign={campaign} />
      <PrecisionPanel campaign={campaign} />
      <Provisional campaign={campaign} />
      {campaign.state === 'draft' ? <DraftConflicts source={campaign.source} /> : null}
      <PageTabs
        tabs={CAMPAIGN_TABS}
        contents={CONTENTS}
        subject={{ campaign }}
        {...{ tab, search }}
        onTab={(next) => change({ tab: next })}
        onSearch={change}
      />
    </>
  )
}

/** To the page where other campaigns' conditions are put beside this one's. */
function CompareWith({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Button variant="default" renderRoot={(props) => <Link to="/compare" search={{ side: startOf(campaign) }} {...props} />}>
      Compare with …
    </Button>
  )
}

function Subtitle({ campaign }: { campaign: CampaignDetail }) {
  const { spec } = campaign
  if (campaign.origin === 'imported')
    return (
      <>
        <div>{plural(campaign.runs_total, 'run')} from files of other tools</div>
        <Description campaign={campaign} />
      </>
    )
  const facts = [
    `Link ${spec.links.join(', ')}`,
    plural(spec.conditions.length, 'condition'),
    cyclesText(spec) || `${spec.timetable.duration_h} h`,
    ...untilTexts(spec),
    stopText(spec),
    ...clockTexts(spec),
    ...triggerTexts(spec),
  ]
  return (
    <>
      <div>{facts.join(' · ')}</div>
      <Description campaign={campaign} />
    </>
  )
}
