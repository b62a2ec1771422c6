import type { Run } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'

/** What started a run of a campaign with a trigger. */
export function CausePanel({ cause }: { cause: NonNullable<Run['trigger']> }) {
  return (
    <Panel title="Started by a trigger">
      <Facts
        items={[
          ['Trigger', cause.name],
          ['At', formatMoment(cause.at)],
          ['Value', cause.value === null ? 'none' : `${cause.value} ${cause.unit}`.trim()],
          ...(cause.source ? ([['Said by', cause.source]] as const) : []),
        ]}
      />
    </Panel>
  )
}
