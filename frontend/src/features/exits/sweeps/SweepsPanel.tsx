import { Button, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { CampaignDetail, Sweep } from '@/api/types'
import { Allowed } from '@/ui/Allowed'
import { Dialog } from '@/ui/Dialog'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import type { CampaignExitsSearch } from '../search'
import { HeatMapsPanel } from './HeatMapsPanel'
import { useSweeps } from './queries'
import { SweepForm } from './SweepForm'
import { SweepList } from './SweepList'

interface SweepsPanelProps {
  campaign: CampaignDetail
  search: CampaignExitsSearch
  onSearch: (change: CampaignExitsSearch) => void
}

/** A detector's parameters swept over all traces of the campaign. */
export function SweepsPanel({ campaign, search, onSearch }: SweepsPanelProps) {
  const sweeps = useSweeps(campaign.id)
  const [isFormOpen, form] = useDisclosure(false)
  const show = (sweep: Sweep) => onSearch({ sweep: sweep.id, x: undefined, y: undefined, at: undefined })
  const shown = sweeps.data?.items.find(({ id }) => id === search.sweep) ?? sweeps.data?.items[0]
  return (
    <>
      <Panel
        title="Sensitivity"
        description="How success, early and late exits and headroom change with a detector's parameters, over all traces of this campaign."
        isFlush
        actions={
          <Allowed verb="derive">
            <Button size="xs" onClick={form.open}>
              New sweep
            </Button>
          </Allowed>
        }
      >
        <QueryPanel
          query={sweeps}
          empty={({ items }) =>
            items.length === 0 ? (
              <Empty title="No sweep yet">
                Choose a detector and values for its parameters. Every combination is replayed over every trace; the maps appear here.
              </Empty>
            ) : null
          }
        >
          {({ items, total }) => <SweepList sweeps={items} total={total} shownId={shown?.id} onShow={show} />}
        </QueryPanel>
      </Panel>
      {shown ? <HeatMapsPanel key={shown.id} sweep={shown} campaign={campaign.name} search={search} onSearch={onSearch} /> : null}
      <Dialog opened={isFormOpen} onClose={form.close} title="New sweep" size="lg">
        <Stack>
          <SweepForm
            campaignId={campaign.id}
            onDone={(sweep) => {
              form.close()
              show(sweep)
            }}
          />
        </Stack>
      </Dialog>
    </>
  )
}
