import { Alert, Button, Select, Stack } from '@mantine/core'
import { API } from '@/api/client'
import type { CampaignDetail, CampaignExits } from '@/api/types'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { DetectorToggles } from '../DetectorToggles'
import { detectorsText, isShown, switched } from '../detectors'
import { useCampaignExits } from '../queries'
import type { CampaignExitsSearch } from '../search'
import { SweepsPanel } from '../sweeps/SweepsPanel'
import { DistributionPanel } from './DistributionPanel'
import classes from './exits.module.css'
import { decidableOf, groupLabel } from './groups'
import { TableOnePanel } from './TableOnePanel'
import { TimingPanel } from './TimingPanel'

interface ExitsTabProps {
  campaign: CampaignDetail
  search: CampaignExitsSearch
  onSearch: (change: CampaignExitsSearch) => void
}

/** Slow-start exits over the complete runs of a campaign. */
export function ExitsTab({ campaign, search, onSearch }: ExitsTabProps) {
  const exits = useCampaignExits(campaign.id)
  return (
    <QueryPanel query={exits} skeletonRows={10} empty={({ groups }) => (groups.length === 0 ? <NotYet campaign={campaign} /> : null)}>
      {(data) => (
        <Stack gap="lg">
          <Outdated exits={data} />
          <TableOnePanel groups={data.groups} isImported={campaign.origin === 'imported'} actions={<Csv campaign={campaign} />} />
          <Detectors campaign={campaign.name} exits={data} isImported={campaign.origin === 'imported'} {...{ search, onSearch }} />
          <SweepsPanel campaign={campaign} search={search} onSearch={onSearch} />
        </Stack>
      )}
    </QueryPanel>
  )
}

function NotYet({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Panel>
      <Empty title="No exits yet">
        {campaign.state === 'draft'
          ? 'Launch the campaign. Detectors are replayed over each run that is complete.'
          : 'Detectors are replayed over complete runs, and there is none yet. The Runs tab shows their progress.'}{' '}
        {campaign.origin === 'imported' ? null : detectorsText(campaign.spec)}
      </Empty>
    </Panel>
  )
}

/** Verdicts of an older analysis stay as they are until the traces are analysed again. */
function Outdated({ exits: { groups } }: { exits: CampaignExits }) {
  const [runs, outdated] = [groups.reduce((sum, one) => sum + one.runs, 0), groups.reduce((sum, one) => sum + one.outdated, 0)]
  if (outdated === 0) return null
  return (
    <Alert color="yellow" variant="light" title={`${outdated} of ${runs} flows were judged by an older analysis`}>
      Its capacity point was SEARCH's own curve (cg), which can lie seconds before the link is full: early exits may be called good here.
    </Alert>
  )
}

function Csv({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Button
      component="a"
      size="xs"
      variant="default"
      href={`${API}/campaigns/${campaign.id}/exits.csv`}
      download
      aria-label="Download exits.csv"
    >
      exits.csv
    </Button>
  )
}

interface DetectorsProps extends Omit<ExitsTabProps, 'campaign'> {
  /** Its name. */
  campaign: string
  exits: CampaignExits
  isImported: boolean
}

function Detectors({ campaign, exits, isImported, search, onSearch }: DetectorsProps) {
  const labels = exits.groups.map((group) => groupLabel(group, exits.groups))
  const place = Math.max(0, labels.indexOf(search.group ?? ''))
  const group = exits.groups[place]
  if (!group) return null
  const known = decidableOf(group)
  const shown = known.filter(({ look }) => isShown(look.key, search.detectors))
  const keys = known.map(({ look }) => look.key)
  return (
    <>
      <Panel
        title="Detectors"
        description="Each was replayed over the same traces. The choice applies to the two panels below."
        actions={
          <Select
            aria-label="Link and condition"
            size="xs"
            w={280}
            data={labels}
            value={labels[place] ?? null}
            allowDeselect={false}
            onChange={(value) => onSearch({ group: value ?? undefined })}
          />
        }
      >
        <DetectorToggles
          looks={known.map(({ look }) => look)}
          isOn={(key) => isShown(key, search.detectors)}
          onToggle={(key) => onSearch({ detectors: switched(key, search.detectors, keys) })}
        />
        <Undecided group={group} decidable={known.length} isImported={isImported} />
      </Panel>
      <DistributionPanel shown={shown} group={labels[place] ?? ''} source={{ campaign, linkName: group.link }} />
      <TimingPanel shown={shown} bases={group.bases} group={labels[place] ?? ''} source={{ campaign, linkName: group.link }} />
    </>
  )
}

interface UndecidedProps {
  group: CampaignExits['groups'][number]
  decidable: number
  isImported: boolean
}

function Undecided({ group, decidable, isImported }: UndecidedProps) {
  const rest = group.detectors.length - decidable
  if (rest === 0) return null
  return (
    <p className={classes.undecided}>
      {rest} of {group.detectors.length} detectors could not decide on any run at this sampling.{' '}
      {isImported ? (
        'They need a row per ACK, which the imported files do not have.'
      ) : (
        <>
          With <code>sampling: per_ack</code> in the campaign file every ACK is on record, and all can.
        </>
      )}
    </p>
  )
}
