import { Stack, Text } from '@mantine/core'
import type { LinkAdvice } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { CopyCommand } from '@/ui/CopyCommand'
import { Panel } from '@/ui/Panel'

/** The buffers that a link asks for, ready to paste. */
export function AdvicePanel({ advice }: { advice: LinkAdvice }) {
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

function reason({ bdp_bytes, is_lower_bound, max_bytes }: LinkAdvice): string {
  const grow = `Let buffers grow to ${formatBytes(max_bytes)}`
  return is_lower_bound
    ? `${grow}: ${formatBytes(bdp_bytes)} were in flight while a buffer held the flows back, so the path has room for more. Measure again with these.`
    : `${grow}, 2.5 times the measured bandwidth-delay product of ${formatBytes(bdp_bytes)}.`
}
