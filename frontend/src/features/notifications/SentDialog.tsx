import { Table } from '@mantine/core'
import type { Channel, SentNotification } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { Dialog } from '@/ui/Dialog'
import { Empty } from '@/ui/Empty'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { StateBadge } from '@/ui/StateBadge'
import { useSent } from './queries'
import { STATES } from './words'

/** The last notifications of a channel, and what came of each. */
export function SentDialog({ channel, onClose }: { channel: Channel | null; onClose: () => void }) {
  return (
    <Dialog opened={channel !== null} onClose={onClose} title={`Sent to ${channel?.name ?? ''}`} size="xl">
      {channel ? <Sent channelId={channel.id} /> : null}
    </Dialog>
  )
}

function Sent({ channelId }: { channelId: string }) {
  const sent = useSent(channelId)
  return (
    <QueryPanel
      query={sent}
      skeletonRows={3}
      empty={({ items }) => (items.length === 0 ? <Empty title="Nothing was sent yet">“Test” sends something now.</Empty> : null)}
    >
      {({ items }) => (
        <ScrollTable label="Sent notifications" heads={['When', 'What', 'State', 'Tries', 'Detail']}>
          {items.map((each) => (
            <Table.Tr key={each.id}>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatMoment(each.created_at)}</Table.Td>
              <Table.Th scope="row">{each.title}</Table.Th>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>
                <StateBadge state={STATES[each.state].tone} label={STATES[each.state].label} />
              </Table.Td>
              <Table.Td ta="right">{each.tries}</Table.Td>
              <Table.Td style={{ whiteSpace: 'normal', minWidth: 200 }}>{detailOf(each)}</Table.Td>
            </Table.Tr>
          ))}
        </ScrollTable>
      )}
    </QueryPanel>
  )
}

const detailOf = ({ detail, state, due_at }: SentNotification) =>
  [detail, state === 'retrying' && due_at ? `Next try ${formatMoment(due_at)}.` : null].filter(Boolean).join(' ')
