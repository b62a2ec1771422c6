import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Campaign } from '@/api/types'
import { plural } from '@/lib/format'
import { campaignState } from '@/lib/states'
import { formatMoment } from '@/lib/time'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { ProgressBar } from '@/ui/ProgressBar'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import classes from './campaigns.module.css'
import { FirstSteps } from './FirstSteps'
import { OriginTag } from './OriginTag'
import { progressText, segments, segmentsTotal } from './progress'
import { useCampaigns } from './queries'

/** quickTest: the button that starts one, where there is a link. */
export function CampaignsPage({ quickTest }: { quickTest: ReactNode }) {
  const campaigns = useCampaigns()
  return (
    <>
      <PageHeader
        title="Campaigns"
        description="Each compares conditions over one or more links, run by run."
        actions={
          <>
            {quickTest}
            <Button component={Link} to="/campaigns/import" variant="default">
              Import files
            </Button>
            <Button component={Link} to="/campaigns/new">
              New campaign
            </Button>
          </>
        }
      />
      <QueryPanel
        query={campaigns}
        empty={({ items }) =>
          items.length === 0 ? (
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
          ) : null
        }
      >
        {({ items }) => (
          <div className={classes.list}>
            {items.map((campaign) => (
              <Item key={campaign.id} campaign={campaign} />
            ))}
            {items.every(({ quick_link }) => quick_link !== null) ? <StillToDo /> : null}
          </div>
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

function Item({ campaign }: { campaign: Campaign }) {
  const at = campaign.launched_at ?? campaign.created_at
  return (
    <Link to="/campaigns/$campaignId" params={{ campaignId: campaign.id }} className={classes.item}>
      <div>
        <div className={classes.itemHead}>
          {campaign.name}
          <StateBadge {...campaignState(campaign)} />
          <OriginTag campaign={campaign} />
        </div>
        <Text size="sm" c="dimmed" mt={4} lineClamp={2}>
          {campaign.links.join(', ')} ·{' '}
          {campaign.conditions.length > 3 ? plural(campaign.conditions.length, 'condition') : campaign.conditions.join(' / ')}
        </Text>
      </div>
      <div>
        {campaign.state === 'draft' ? (
          <Text size="sm" c="dimmed">
            {plural(campaign.runs_total, 'run')} planned, not launched
          </Text>
        ) : (
          <>
            <ProgressBar label={`Runs done of ${campaign.name}`} total={segmentsTotal(campaign)} segments={segments(campaign.counts)} />
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
