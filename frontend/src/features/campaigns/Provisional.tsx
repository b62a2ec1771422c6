import { Text } from '@mantine/core'
import type { CampaignDetail } from '@/api/types'
import { plural } from '@/lib/format'

/** Says of a campaign under way that its results are not its last word. */
export function Provisional({ campaign }: { campaign: CampaignDetail }) {
  const isUnderWay = campaign.state === 'running' || campaign.state === 'paused'
  if (!isUnderWay || !campaign.report_at || campaign.origin !== 'measured') return null
  return (
    <Text size="sm" mb="md" role="note">
      <b>Provisional results</b> of {plural(campaign.counts.complete, 'complete run')}: they change until the last of{' '}
      {plural(campaign.runs_total, 'planned run')} has ended.
    </Text>
  )
}
