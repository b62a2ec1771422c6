import { Table, Text } from '@mantine/core'
import type { Run, RunFlow } from '@/api/types'
import { formatBytes, formatNumber, NO_VALUE } from '@/lib/format'
import { MBPS_PER_BPS } from '@/lib/units'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { controlName, droppedText, hystartText, proxyText, samplingText } from './recording'
import classes from './runs.module.css'
import { endingText } from './wording'

const HEADS = [
  'Flow',
  'From → to',
  'Congestion control',
  'Recorded at the sender',
  'Start',
  'Throughput',
  'Goodput',
  'Bytes',
  'Steady state after',
  'Ended by',
]

/** Each flow with what was asked beside what happened. */
export function FlowsPanel({ run }: { run: Run }) {
  if (run.flows.length === 0) return null
  return (
    <Panel title="Flows" description={run.import_source ? 'As in the file.' : 'Requested and actual settings.'} isFlush>
      <ScrollTable label="Flows" heads={HEADS} role="table" data-stacks>
        {run.flows.map((flow) => (
          <FlowRow key={flow.flow} flow={flow} flows={run.flows} wasAsked={run.import_source === null} />
        ))}
      </ScrollTable>
    </Panel>
  )
}

function FlowRow({ flow, flows, wasAsked }: { flow: RunFlow; flows: RunFlow[]; wasAsked: boolean }) {
  const options = Object.entries(flow.cc_options).map(([name, value]) => `${name}=${String(value)}`)
  return (
    <Table.Tr role="row">
      <Table.Th scope="row" role="rowheader">
        Flow {flow.flow}
      </Table.Th>
      <Table.Td role="cell" data-label="From → to" data-whole style={{ whiteSpace: 'normal' }}>
        <span className={classes.unbroken}>{flow.sender} →</span> <span className={classes.unbroken}>{flow.receiver}</span>
        <Aside>{proxyText(flow.proxy)}</Aside>
      </Table.Td>
      <Table.Td role="cell" data-label="Congestion control">
        {wasAsked ? (
          <AskedActual asked={flow.asked_cc} actual={flow.actual_cc} version={flow.cc_version} />
        ) : (
          controlName(flow.actual_cc ?? flow.asked_cc, flow.cc_version)
        )}
        <Aside>{options.length > 0 ? options.join(', ') : null}</Aside>
        <Aside>{hystartText(flow, flows)}</Aside>
      </Table.Td>
      <Table.Td role="cell" data-label="Recorded at the sender">
        <Recording flow={flow} />
      </Table.Td>
      <Table.Td role="cell" data-label="Start">
        {flow.start_s > 0 ? `${flow.start_s} s` : 'at zero'}
      </Table.Td>
      <Table.Td role="cell" data-label="Throughput" style={{ whiteSpace: 'nowrap' }}>
        {mbps(flow.throughput_bps)}
      </Table.Td>
      <Table.Td role="cell" data-label="Goodput" style={{ whiteSpace: 'nowrap' }}>
        {mbps(flow.goodput_bps)}
      </Table.Td>
      <Table.Td role="cell" data-label="Bytes" style={{ whiteSpace: 'nowrap' }}>
        {formatBytes(flow.app_bytes)}
      </Table.Td>
      <Table.Td role="cell" data-label="Steady state after">
        {flow.time_to_steady_s === null ? NO_VALUE : `${formatNumber(flow.time_to_steady_s)} s`}
      </Table.Td>
      <Table.Td role="cell" data-label="Ended by">
        {endingText(flow.ended)}
        <Aside>{flow.detail}</Aside>
      </Table.Td>
    </Table.Tr>
  )
}

const mbps = (rate_bps: number | null) => (rate_bps === null ? NO_VALUE : `${formatNumber(rate_bps * MBPS_PER_BPS)} Mb/s`)

function Aside({ children }: { children: string | null }) {
  return children === null ? null : (
    <Text size="xs" c="dimmed" maw={280} style={{ whiteSpace: 'normal' }}>
      {children}
    </Text>
  )
}

function Recording({ flow }: { flow: RunFlow }) {
  const dropped = droppedText(flow.dropped_samples)
  return (
    <>
      {samplingText(flow) ?? NO_VALUE}
      {dropped ? (
        <Text size="xs" className={classes.warning} maw={220} style={{ whiteSpace: 'normal' }}>
          ⚠ {dropped}
        </Text>
      ) : null}
    </>
  )
}

function AskedActual({ asked, actual, version }: { asked: string; actual: string | null; version: number | null }) {
  if (actual === null) return <>{asked} asked</>
  if (actual === asked) return <>{controlName(actual, version)}, as asked</>
  return (
    <Text span size="sm" className={classes.warning}>
      {controlName(actual, version)} instead of {asked}
    </Text>
  )
}
