import { Alert, Stack, Text } from '@mantine/core'
import type { ExitTimes, FlowExits } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'
import { capacityText } from './capacity'
import { lossOf, seconds } from './exits'

interface SlowStartPanelProps {
  flow: FlowExits
  isImported: boolean
}

/** When slow start was left, when it should have been, Kachooei 2023's times, and what cannot be told at this sampling. */
export function SlowStartPanel({ flow, isImported }: SlowStartPanelProps) {
  const undecided = flow.verdicts.filter(({ is_decidable }) => !is_decidable).length
  return (
    <Panel title="Slow start" description="Times in seconds since the flow's first data byte.">
      <Stack gap="sm">
        {flow.is_current ? null : <Outdated version={flow.analysis_version} />}
        <Facts items={ownTimes(flow)} />
        <Text size="sm">{capacityText(flow.capacity)}</Text>
        <Paper times={flow.times} isLeftEarly={flow.stayed_in_slow_start === false} />
        {undecided > 0 ? (
          <Text size="sm">
            {undecided} of {flow.verdicts.length} verdicts are not decidable at this sampling. Those detectors need every ACK
            {isImported ? ', and the imported file does not have them all.' : <PerAck />}
          </Text>
        ) : null}
      </Stack>
    </Panel>
  )
}

function PerAck() {
  return (
    <>
      : set <code>sampling: per_ack</code> in the campaign file and measure again.
    </>
  )
}

function Outdated({ version }: { version: string }) {
  return (
    <Alert color="yellow" variant="light" title={`Judged by analysis version ${version}, which is not the current one`}>
      Its capacity point was SEARCH's own curve (cg), which can lie seconds before the link is full: early exits may be called good here.
    </Alert>
  )
}

function ownTimes(flow: FlowExits): [string, string][] {
  const observed = flow.verdicts.find(({ detector }) => detector === 'observed_exit')
  return [
    ['Slow start left', observed?.is_decidable === false ? 'not on record' : at(observed?.exit_us ?? null)],
    ['Capacity reached', at(flow.capacity?.capacity_us ?? null)],
    ['First loss (dp)', at(lossOf(flow))],
  ]
}

interface PaperProps {
  times: ExitTimes | null
  isLeftEarly: boolean
}

/** The row that this flow is in Kachooei 2023's Table I. */
function Paper({ times, isLeftEarly }: PaperProps) {
  if (times === null)
    return (
      <Text size="sm">
        The times cg, ex and hr of the paper on SEARCH (Kachooei 2023) cannot be computed: SEARCH needs what was sent, and at least ten
        samples per bin.
      </Text>
    )
  return (
    <>
      <Text size="sm">
        The times of the paper on SEARCH (Kachooei 2023), out of SEARCH 1.0's own curve while the flow was in slow start: cg, the curve
        first says that the link is full (more than 10 % of the bytes sent one RTT ago are not delivered yet); ex, SEARCH leaves slow start
        (more than 25 %); hr, the headroom from ex to the first loss. A jittery RTT makes the curve show this early, so that exits are not
        judged by cg.
        {isLeftEarly ? ' This flow left slow start before a loss: it is not in Table I.' : null}
      </Text>
      <Facts
        items={[
          ['cg: capacity by SEARCH', at(times.cg_us)],
          ['ex: SEARCH 1.0 exits', at(times.ex_us)],
          ['hr: headroom, dp − ex', times.hr_us === null ? 'none' : `${formatNumber(seconds(times.hr_us))} s`],
          ['Success: cg ≤ ex < dp', success(times)],
        ]}
      />
    </>
  )
}

const at = (time_us: number | null) => (time_us === null ? 'never' : `${formatNumber(seconds(time_us))} s`)

function success({ is_success, cg_us, ex_us, dp_us }: ExitTimes): string {
  if (is_success) return 'yes'
  if (ex_us === null) return cg_us === null ? 'no, capacity was never reached' : 'no, SEARCH never exited'
  return dp_us !== null && ex_us >= dp_us ? 'no, the loss came first' : 'no, the exit came before capacity'
}
