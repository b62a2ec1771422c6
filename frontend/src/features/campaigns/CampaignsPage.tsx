import { Button, Group, Pagination, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useCallback } from 'react'
import type { Campaign } from '@/api/types'
import { plural } from '@/lib/format'
import { campaignState } from '@/lib/states'
import { formatMoment } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { ProgressBar } from '@/ui/ProgressBar'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { Tag } from '@/ui/Tag'
import { CampaignFilters } from './CampaignFilters'
import classes from './campaigns.module.css'
import { FirstSteps } from './FirstSteps'
import { OriginTag } from './OriginTag'
import { progressText, segments, segmentsTotal } from './progress'
import { CAMPAIGNS_A_PAGE, useCampaigns } from './queries'
import { type CampaignsSearch, isFiltered } from './search'

const route = getRouteApi('/shell/campaigns')

/** quickTest: the button that starts one, where there is a link. */
export function CampaignsPage({ quickTest }: { quickTest: ReactNode }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const campaigns = useCampaigns(search)
  // Another filter begins at the first page. Turning pages and choosing can be taken back, typing is one step.
  const change = useCallback(
    (next: CampaignsSearch) =>
      void navigate({
        search: (old) => ({ ...old, page: undefined, ...next }),
        replace: 'q' in next && !('state' in next),
        resetScroll: false,
      }),
    [navigate],
  )
  return (
    <>
      <PageHeader
        title="Campaigns"
        description="Each compares conditions over one or more links, run by run."
        actions={
          <>
            {quickTest}
            <Allowed verb="import">
              <Button component={Link} to="/campaigns/import" variant="default">
                Import files
              </Button>
            </Allowed>
            <Allowed verb="create_campaign" instead="Your role reads; operators measure">
              <Button component={Link} to="/campaigns/new">
                New campaign
              </Button>
            </Allowed>
          </>
        }
      />
      <QueryPanel query={campaigns} empty={({ total }) => (total === 0 && !isFiltered(search) && !search.page ? <NoneYet /> : null)}>
        {({ items, total }) => (
          <>
            <CampaignFilters search={search} onSearch={change} />
            {items.length === 0 ? (
              <Panel>
                <Empty title={total > 0 ? 'There are not so many pages' : 'No campaign fits'}>
                  {total > 0 ? (
                    <Link to="/campaigns" search={{ ...search, page: undefined }}>
                      Back to the first page
                    </Link>
                  ) : (
                    'Remove a filter, or search for fewer words.'
                  )}
                </Empty>
              </Panel>
            ) : (
              <div className={classes.list}>
                {items.map((campaign) => (
                  <Item key={campaign.id} campaign={campaign} />
                ))}
                {!isFiltered(search) && items.every(({ quick_link }) => quick_link !== null) ? <StillToDo /> : null}
              </div>
            )}
            <Pages total={total} page={search.page ?? 1} onPage={(page) => change({ page: page > 1 ? page : undefined })} />
          </>
        )}
      </QueryPanel>
    </>
  )
}

/** Quick tests alone: the checklist stays until there is a campaign. */
function StillToDo() {
  return (
    <Panel title="First steps">
      <FirstSteps isTried />
    </Panel>
  )
}

function Pages({ total, page, onPage }: { total: number; page: number; onPage: (page: number) => void }) {
  const pages = Math.ceil(total / CAMPAIGNS_A_PAGE)
  const first = (page - 1) * CAMPAIGNS_A_PAGE + 1
  return (
    <Group component="nav" justify="space-between" mt="md" aria-label="Pages of the list">
      <Text size="sm" c="dimmed" role="status">
        {pages > 1 && first <= total
          ? `${first} to ${Math.min(total, first + CAMPAIGNS_A_PAGE - 1)} of ${plural(total, 'campaign')}`
          : plural(total, 'campaign')}
      </Text>
      {pages > 1 ? (
        <Pagination
          size="sm"
          total={pages}
          value={page}
          onChange={onPage}
          getControlProps={(control) => ({ 'aria-label': control === 'next' ? 'Next page' : 'Previous page' })}
          getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
        />
      ) : null}
    </Group>
  )
}

function NoneYet() {
  return (
    <Panel>
      <Empty
        title="No campaigns yet"
        action={
          <Button component={Link} to="/campaigns/new" variant="light">
            Choose a template
          </Button>
        }
      >
        Measurements of other tools can be imported without any of these.
        <FirstSteps />
      </Empty>
    </Panel>
  )
}

function Item({ campaign }: { campaign: Campaign }) {
  const at = campaign.launched_at ?? campaign.created_at
  return (
    <Link to="/campaigns/$campaignId" params={{ campaignId: campaign.id }} className={classes.item}>
      <div>
        <div className={classes.itemHead}>
          {campaign.name}
          <StateBadge {...campaignState(campaign)} />
          <OriginTag campaign={campaign} />
          {campaign.tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </div>
        <Text size="sm" c="dimmed" mt={4} lineClamp={2}>
          {campaign.links.join(', ')} ·{' '}
          {campaign.conditions.length > 3 ? plural(campaign.conditions.length, 'condition') : campaign.conditions.join(' / ')}
        </Text>
      </div>
      <div>
        {campaign.state === 'draft' ? (
          <Text size="sm" c="dimmed">
            {campaign.runs_total > 0 ? `${plural(campaign.runs_total, 'run')} planned, not launched` : 'Not launched'}
          </Text>
        ) : (
          <>
            <ProgressBar label={`Runs ended of ${campaign.name}`} total={segmentsTotal(campaign)} segments={segments(campaign.counts)} />
            <Text size="sm" mt={6}>
              {progressText(campaign)}
            </Text>
          </>
        )}
        <Text size="xs" c="dimmed">
          {campaign.launched_at ? 'launched' : 'created'} {formatMoment(at)}
        </Text>
      </div>
    </Link>
  )
}
