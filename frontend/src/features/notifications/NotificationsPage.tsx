import { Stack } from '@mantine/core'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ChannelTable } from './ChannelTable'
import { NewChannel } from './NewChannel'
import { useChannels } from './queries'

/** Where the server sends news of what happens. For operators and admins. */
export function NotificationsPage() {
  const channels = useChannels()
  return (
    <>
      <PageHeader
        title="Notifications"
        description="The server reports events by signed webhook, chat or mail. Failed deliveries are retried for 11 hours."
      />
      <Stack gap="lg">
        <NewChannel hasMail={channels.data?.has_mail ?? false} />
        <Panel title="Channels" isFlush>
          <QueryPanel
            query={channels}
            empty={({ items }) => (items.length === 0 ? <Empty title="No channels yet">Add one above, then test it.</Empty> : null)}
          >
            {({ items }) => <ChannelTable channels={items} />}
          </QueryPanel>
        </Panel>
      </Stack>
    </>
  )
}
