import { Select, Stack } from '@mantine/core'
import type { CampaignDetail, CampaignLimits } from '@/api/types'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { useCampaignLimits } from '../queries'
import type { CampaignSearch } from '../search'
import { AdvicePanel } from './AdvicePanel'
import { SharesPanel } from './SharesPanel'

interface LimitsTabProps {
  campaign: CampaignDetail
  search: CampaignSearch
  onSearch: (change: Partial<CampaignSearch>) => void
}

/** What held the campaign's flows back, and the buffers to set. */
export function LimitsTab({ campaign, search, onSearch }: LimitsTabProps) {
  const limits = useCampaignLimits(campaign.id)
  return (
    <QueryPanel query={limits} skeletonRows={8} empty={({ groups }) => (groups.length === 0 ? <Nothing campaign={campaign} /> : null)}>
      {(data) => <Content limits={data} {...{ search, onSearch }} />}
    </QueryPanel>
  )
}

function Nothing({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Panel>
      <Empty title="Nothing to tell yet">
        {campaign.spec.sampling === 'per_ack'
          ? 'Recording every ACK leaves out the counters that tell what held a flow. Run the conditions with “sampling: polled” to see it.'
          : 'What held the flows is judged when the first run is complete.'}
      </Empty>
    </Panel>
  )
}

function Content({ limits, search, onSearch }: Pick<LimitsTabProps, 'search' | 'onSearch'> & { limits: CampaignLimits }) {
  const links = [...new Set(limits.groups.map(({ link }) => link))]
  const link = links.find((one) => one === search.link) ?? links[0] ?? ''
  const advice = limits.advice.find((one) => one.link === link)
  return (
    <Stack gap="lg">
      {links.length > 1 ? (
        <Select
          label="Link"
          w={240}
          data={links}
          value={link}
          allowDeselect={false}
          onChange={(next) => onSearch({ link: next ?? undefined })}
        />
      ) : null}
      <SharesPanel groups={limits.groups.filter((group) => group.link === link)} />
      {advice ? <AdvicePanel advice={advice} /> : null}
    </Stack>
  )
}
