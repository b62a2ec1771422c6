import { Anchor, Button, Table } from '@mantine/core'
import { useState } from 'react'
import { API } from '@/api/client'
import { formatMoment } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { useAudit } from './queries'

const FIRST = 20
const MOST = 500

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
            <ScrollTable label="Record of changes" heads={['When', 'Who', 'Did', 'To']}>
              {items.map((entry) => (
                <Table.Tr key={entry.id}>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatMoment(entry.at)}</Table.Td>
                  <Table.Td>
                    {entry.actor} ({entry.actor_kind})
                  </Table.Td>
                  <Table.Td>{entry.action.replaceAll('_', ' ')}</Table.Td>
                  <Table.Td>{entry.subject}</Table.Td>
                </Table.Tr>
              ))}
            </ScrollTable>
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
