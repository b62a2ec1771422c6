import { Text } from '@mantine/core'
import type { ExitTimes, FlowExits } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'
import { seconds } from './exits'

/** Paper 002's times of the flow, and what cannot be told at this sampling. */
export function SlowStartPanel({ flow }: { flow: FlowExits }) {
  const undecided = flow.verdicts.filter(({ is_decidable }) => !is_decidable).length
  return (
    <Panel title="Slow start" description="Times in seconds since the trace's first row; cg and ex by SEARCH 1.0.">
      {flow.times ? (
        <Facts
          items={[
            ['cg: capacity reached', at(flow.times.cg_us)],
            ['ex: SEARCH 1.0 exits', at(flow.times.ex_us)],
            ['dp: first loss', at(flow.times.dp_us)],
            ['hr: headroom, dp − ex', flow.times.hr_us === null ? 'none' : `${formatNumber(seconds(flow.times.hr_us))} s`],
            ['Success: cg ≤ ex < dp', success(flow.times)],
          ]}
        />
      ) : (
        <Text size="sm">
          cg, ex, dp and hr cannot be told: SEARCH needs at least ten samples per bin and what was sent. With <code>sampling: per_ack</code>{' '}
          in the campaign file the sender records every ACK.
        </Text>
      )}
      {undecided > 0 ? (
        <Text size="sm" mt="sm">
          {undecided} of {flow.verdicts.length} verdicts are not decidable at this sampling. Those detectors need every ACK: set{' '}
          <code>sampling: per_ack</code> in the campaign file and measure again.
        </Text>
      ) : null}
    </Panel>
  )
}

const at = (time_us: number | null) => (time_us === null ? 'never' : `${formatNumber(seconds(time_us))} s`)

function success({ is_success, cg_us, ex_us, dp_us }: ExitTimes): string {
  if (is_success) return 'yes'
  if (ex_us === null) return cg_us === null ? 'no, capacity was never reached' : 'no, SEARCH never exited'
  return dp_us !== null && ex_us >= dp_us ? 'no, the loss came first' : 'no, the exit came before capacity'
}
