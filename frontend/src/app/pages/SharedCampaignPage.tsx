import { Anchor, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { CampaignDetail } from '@/api/types'
import { useCampaign } from '@/features/campaigns/queries'
import { ResultsTab } from '@/features/results/campaign/ResultsTab'
import { changedBy, type SearchChange } from '@/lib/search'
import { campaignState } from '@/lib/states'
import { PageHeader } from '@/ui/PageHeader'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { ColorSchemeButton } from '../ColorSchemeButton'
import { Mark } from '../Mark'
import { ReportDocument } from '../report/ReportDocument'
import classes from '../shell.module.css'
import { PageTabs } from './PageTabs'
import { SHARED_TABS, type SharedSearch } from './sharedTabs'
import type { Contents } from './tabs'

const route = getRouteApi('/shared/$campaignId')

interface Subject {
  campaign: CampaignDetail
  isVisited: boolean
}

const CONTENTS: Contents<typeof SHARED_TABS, Subject> = {
  report: ({ campaign }) => <ReportDocument campaignId={campaign.id} />,
  results: ResultsTab,
  downloads: { load: () => import('@/features/campaigns/DownloadsTab').then(({ DownloadsTab }) => DownloadsTab) },
}

/** A campaign for somebody who has a link to it: what can be read, and nothing that can be done. */
export function SharedCampaignPage() {
  const { campaignId } = route.useParams()
  const campaign = useCampaign(campaignId)
  useNewReports(campaignId, campaign.data?.report_at ?? null)
  return (
    <>
      <Anchor href="#content" className={classes.skip}>
        Skip to content
      </Anchor>
      <header className={classes.header}>
        <div className={classes.bar}>
          <span className={classes.brand}>
            <Mark />
            Downlink
          </span>
          <Group gap="xs" ml="auto" wrap="nowrap">
            <Text size="sm" c="dimmed">
              Shared with you, to read
            </Text>
            <ColorSchemeButton />
          </Group>
        </div>
      </header>
      <main id="content" className={classes.content} tabIndex={-1}>
        <QueryPanel query={campaign} skeletonRows={12}>
          {(data) => <Content campaign={data} />}
        </QueryPanel>
      </main>
    </>
  )
}

function Content({ campaign }: { campaign: CampaignDetail }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: SearchChange<SharedSearch>) => void navigate({ search: changedBy(next), replace: true, resetScroll: false })
  return (
    <>
      <div className={classes.onScreen}>
        <PageHeader title={campaign.name} badges={<StateBadge {...campaignState(campaign)} />} />
      </div>
      <PageTabs
        tabs={SHARED_TABS}
        contents={CONTENTS}
        subject={{ campaign, isVisited: true }}
        tab={search.tab ?? 'report'}
        search={search}
        onTab={(next) => change({ tab: next })}
        onSearch={change}
      />
    </>
  )
}

/** No stream of events is open to visitors: while a campaign runs it is asked for now and then, and says when its report is a new one. */
function useNewReports(campaignId: string, report_at: string | null): void {
  const cache = useQueryClient()
  useEffect(() => {
    if (report_at === null) return
    void cache.invalidateQueries({
      predicate: ({ queryKey: [, path, options] }) =>
        String(path).startsWith('/api/v1/campaigns/{campaign_id}/') &&
        (options as { params?: { path?: { campaign_id?: string } } } | undefined)?.params?.path?.campaign_id === campaignId,
    })
  }, [cache, campaignId, report_at])
}
