import { Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { API, api } from '@/api/client'
import type { CampaignData, Service } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { Empty } from '@/ui/Empty'
import { Facts } from '@/ui/Facts'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StackedTable } from '@/ui/StackedTable'
import { useStorage } from './queries'
import { PARTS } from './words'

/** What takes room on the server, and what of it goes when. */
export function StoragePage() {
  const storage = useStorage()
  const service = api.useQuery('get', `${API}/service`)
  return (
    <>
      <PageHeader title="Storage" description="Disk use of each campaign. Set retention on each campaign’s Storage tab." />
      <Stack gap="lg">
        <Panel title="Room">
          <QueryPanel query={service}>
            {({ room }) => (
              <>
                {room.reason ? (
                  <Text c="red" mb="sm">
                    No new data is accepted: {room.reason}. Agents keep what they have measured.
                  </Text>
                ) : null}
                <Facts items={[...diskFacts(room), ...databaseFacts(room, storage.data)]} />
              </>
            )}
          </QueryPanel>
        </Panel>
        <Panel title="Campaigns" isFlush>
          <QueryPanel
            query={storage}
            empty={({ items }) =>
              items.length === 0 ? <Empty title="No campaigns yet">What is measured here takes room here.</Empty> : null
            }
          >
            {({ items }) => <CampaignTable campaigns={items} />}
          </QueryPanel>
        </Panel>
      </Stack>
    </>
  )
}

type Room = Service['room']
type Fact = [string, string]

function diskFacts({ disks }: Room): Fact[] {
  return disks.map(({ folder, free_bytes, total_bytes, least_bytes }) => [
    `Disk of ${folder}`,
    free_bytes === null
      ? 'cannot be read'
      : `${formatBytes(free_bytes)} of ${formatBytes(total_bytes)} free; below ${formatBytes(least_bytes)} nothing is accepted`,
  ])
}

function databaseFacts(room: Room, storage: { database_bytes: number; traces_bytes: number; series_bytes: number } | undefined): Fact[] {
  if (!storage) return []
  const most = room.database_most_bytes === null ? '' : `; from ${formatBytes(room.database_most_bytes)} on nothing is accepted`
  return [
    ['Database', `${formatBytes(storage.database_bytes)}${most}`],
    ['Raw traces', formatBytes(storage.traces_bytes)],
    ['Series', formatBytes(storage.series_bytes)],
  ]
}

function CampaignTable({ campaigns }: { campaigns: CampaignData[] }) {
  return (
    <StackedTable
      label="Campaigns"
      heads={['Campaign', 'State', 'Raw traces', 'Series', 'Goes next']}
      rows={campaigns.map((campaign) => ({
        key: campaign.campaign_id,
        cells: [
          <Link key="name" to="/campaigns/$campaignId" params={{ campaignId: campaign.campaign_id }} search={{ tab: 'storage' }}>
            {campaign.name}
          </Link>,
          campaign.state,
          formatBytes(campaign.size.traces_bytes),
          formatBytes(campaign.size.series_bytes),
          goesNext(campaign),
        ],
      }))}
    />
  )
}

function goesNext({ going, is_pinned, next }: CampaignData): string {
  if (going) return `${PARTS[going].title}, now`
  if (is_pinned) return 'nothing: pinned'
  return next ? `${PARTS[next.part].title}, ${formatMoment(next.due_at)}` : 'nothing'
}
