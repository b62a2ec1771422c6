import { Group, Pagination, Text } from '@mantine/core'
import { useState } from 'react'
import type { CampaignPreview } from '@/api/types'
import { formatDuration, formatLocal } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { StackedTable } from '@/ui/StackedTable'

const PER_PAGE = 10

/** The runs in their order, a page at a time, by the clock of their links as if they were launched now. */
export function PlannedRuns({ preview: { estimate, runs, time_zones } }: { preview: CampaignPreview }) {
  const [wanted, setWanted] = useState(1)
  const pages = Math.ceil(runs.length / PER_PAGE)
  const page = Math.min(wanted, pages)
  const total = estimate.runs.toLocaleString('en-GB')
  return (
    <Panel title="Planned runs" description="As if launched now. Times are in the link’s time zone." isFlush>
      <StackedTable
        label="Planned runs"
        heads={['Starts', 'After', 'Condition', 'Link', 'Cycle', 'Holds the link']}
        rows={runs.slice((page - 1) * PER_PAGE, page * PER_PAGE).map((run) => ({
          key: `${run.link} ${run.cycle} ${run.position} ${run.due_s}`,
          cells: [
            formatLocal(run.due_at, time_zones[run.link]),
            formatDuration(run.due_s),
            run.condition,
            run.link,
            run.cycle,
            formatDuration(run.duration_s),
          ],
        }))}
      />
      {pages > 1 ? (
        <Group justify="space-between" p="md" gap="xs">
          <Text size="sm" c="dimmed">
            {estimate.runs > runs.length ? `The first ${runs.length} of ${total} runs.` : `${total} runs.`}
          </Text>
          <Pagination
            size="sm"
            total={pages}
            value={page}
            onChange={setWanted}
            siblings={1}
            aria-label="Pages of planned runs"
            getItemProps={(number) => ({ 'aria-label': `Page ${number}` })}
            getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          />
        </Group>
      ) : null}
    </Panel>
  )
}
