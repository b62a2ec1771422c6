import { Stack, Text } from '@mantine/core'
import type { CampaignSpec, LinkAdvice } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { CopyCommand } from '@/ui/CopyCommand'
import { Panel } from '@/ui/Panel'

interface AdvicePanelProps {
  advice: LinkAdvice
  conditions: CampaignSpec['conditions']
}

/** With which Linux's receive buffers start; the server advises no less. */
const START_BYTES = 131_072

/** The buffers that a link asks for, ready to paste; nothing to paste where every condition had them. */
export function AdvicePanel({ advice, conditions }: AdvicePanelProps) {
  if (advice.max_bytes <= START_BYTES)
    return (
      <Panel title={`Buffers for the link ${advice.link}`}>
        <Text size="sm">
          The path held {formatBytes(advice.bdp_bytes)} in flight. Buffers that start with {formatBytes(START_BYTES)} need not grow for
          that.
        </Text>
      </Panel>
    )
  const least = leastBuffer(conditions)
  if (least >= advice.max_bytes)
    return (
      <Panel title={`Buffers for the link ${advice.link}`}>
        <Text size="sm">
          The path held {formatBytes(advice.bdp_bytes)} in flight, for which {formatBytes(advice.max_bytes)} would do. The buffers of every
          condition could grow to {formatBytes(least)} or more: they need no change.
        </Text>
      </Panel>
    )
  return (
    <Panel title={`Buffers for the link ${advice.link}`} description={reason(advice)}>
      <Stack gap="sm">
        <Text size="sm">At the receiver:</Text>
        <CopyCommand value={`sysctl -w net.ipv4.tcp_rmem="${advice.rmem}"`} label="Command for the receiver" />
        <Text size="sm">At the sender:</Text>
        <CopyCommand value={`sysctl -w net.ipv4.tcp_wmem="${advice.wmem}"`} label="Command for the sender" />
      </Stack>
    </Panel>
  )
}

/** The smallest size that a condition lets a buffer grow to; 0 where one is left as the host has it. */
export function leastBuffer(conditions: AdvicePanelProps['conditions']): number {
  const maxima = conditions.flatMap(({ sender, receiver }) => [sender['net.ipv4.tcp_wmem'], receiver['net.ipv4.tcp_rmem']])
  return Math.min(...maxima.map((triple) => Number(triple?.trim().split(/\s+/).at(-1) ?? 0)))
}

function reason({ bdp_bytes, is_lower_bound, max_bytes }: LinkAdvice): string {
  const grow = `Let buffers grow to ${formatBytes(max_bytes)}`
  return is_lower_bound
    ? `${grow}: ${formatBytes(bdp_bytes)} were in flight while a buffer limited the flows, so the path can hold more. Measure again with these.`
    : `${grow}, 2.5 times the measured bandwidth-delay product of ${formatBytes(bdp_bytes)}.`
}
