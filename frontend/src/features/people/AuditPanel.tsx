import { Anchor, Button } from '@mantine/core'
import { useState } from 'react'
import { API } from '@/api/client'
import { formatMoment } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StackedTable } from '@/ui/StackedTable'
import { useAudit } from './queries'

const FIRST = 20
const MOST = 500

/** With its kind, unless its name says that. */
const actorOf = ({ actor, actor_kind }: { actor: string; actor_kind: string }) =>
  actor === actor_kind ? actor : `${actor} (${actor_kind})`

/** Who changed what about access, the newest first. */
export function AuditPanel() {
  const [limit, setLimit] = useState(FIRST)
  const audit = useAudit(limit)
  return (
    <Panel
      title="Record of changes"
      isFlush
      actions={
        <Anchor size="sm" href={`${API}/audit.csv`} download>
          All as CSV
        </Anchor>
      }
    >
      <QueryPanel query={audit}>
        {({ items, total }) => (
          <>
            <StackedTable
              label="Record of changes"
              heads={['When', 'Who', 'Did', 'To']}
              rows={items.map((entry) => ({
                key: String(entry.id),
                cells: [formatMoment(entry.at), actorOf(entry), entry.action.replaceAll('_', ' '), entry.subject],
              }))}
            />
            {total > items.length && limit < MOST ? (
              <Button m="md" size="compact-sm" variant="default" onClick={() => setLimit(MOST)}>
                Show {Math.min(total, MOST) - items.length} more
              </Button>
            ) : null}
          </>
        )}
      </QueryPanel>
    </Panel>
  )
}
