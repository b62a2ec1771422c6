import { Select, Stack } from '@mantine/core'
import type { CampaignDetail, CampaignLimits } from '@/api/types'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { useCampaignLimits } from '../queries'
import type { LimitsSearch } from '../search'
import { AdvicePanel } from './AdvicePanel'
import { SharesPanel } from './SharesPanel'

interface LimitsTabProps {
  campaign: CampaignDetail
  search: LimitsSearch
  onSearch: (change: LimitsSearch) => void
}

/** What held the campaign's flows back, and the buffers to set. */
export function LimitsTab({ campaign, search, onSearch }: LimitsTabProps) {
  const limits = useCampaignLimits(campaign.id)
  return (
    <QueryPanel query={limits} skeletonRows={8} empty={({ groups }) => (!isKnown(groups) ? <Nothing campaign={campaign} /> : null)}>
      {(data) => <Content limits={data} {...{ campaign, search, onSearch }} />}
    </QueryPanel>
  )
}

const isKnown = (groups: CampaignLimits['groups']) => groups.some(({ shares }) => shares.congestion_window.mean !== null)

function reason({ spec, counts, origin }: CampaignDetail): string {
  if (spec.sampling === 'per_ack')
    return 'Recording every ACK omits the counters that show what limited a flow. Use “sampling: polled” to see it.'
  if (counts.complete === 0) return 'The limits are computed when the first run is complete.'
  return origin === 'imported'
    ? 'The files do not record how long windows and buffers limited the flows.'
    : "The senders' kernels do not count how long windows and buffers limited the flows (Linux 4.10 and later do)."
}

function Nothing({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Panel>
      <Empty title="Nothing to tell yet">{reason(campaign)}</Empty>
    </Panel>
  )
}

function Content({ limits, campaign, search, onSearch }: LimitsTabProps & { limits: CampaignLimits }) {
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
      <SharesPanel groups={limits.groups.filter((group) => group.link === link)} campaign={campaign.name} />
      {advice ? <AdvicePanel advice={advice} conditions={campaign.spec.conditions} /> : null}
    </Stack>
  )
}
