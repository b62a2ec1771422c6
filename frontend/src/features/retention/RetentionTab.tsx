import { Stack } from '@mantine/core'
import { useMay } from '@/api/session'
import type { CampaignDetail } from '@/api/types'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { PartsTable } from './PartsTable'
import { useRetention } from './queries'
import { RuleForm } from './RuleForm'
import { Said } from './Said'

/** How much a campaign takes, how long it is kept, and what goes when. */
export function RetentionTab({ campaign }: { campaign: CampaignDetail }) {
  const retention = useRetention(campaign.id)
  const mayDelete = useMay('delete_campaign', campaign.owner_id)
  return (
    <Stack gap="lg">
      <Panel title="What would go" description="Removing a part also removes the parts above it. Freed space is reused." isFlush>
        <QueryPanel query={retention}>
          {(found) => (
            <>
              <Said found={found} />
              <PartsTable campaign={campaign} found={found} mayDelete={mayDelete} />
            </>
          )}
        </QueryPanel>
      </Panel>
      <Panel
        title="How long it is kept"
        description="Days after the campaign’s end; leave empty to keep for ever. Preview the removal before you save."
      >
        <QueryPanel query={retention}>
          {(found) => (
            <RuleForm
              key={`${found.traces_days} ${found.series_days} ${found.all_days} ${found.is_pinned}`}
              found={found}
              mayDelete={mayDelete}
            />
          )}
        </QueryPanel>
      </Panel>
    </Stack>
  )
}
