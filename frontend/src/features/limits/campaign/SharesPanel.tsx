import { Group, Table, Text } from '@mantine/core'
import type { LimitGroup } from '@/api/types'
import { LayerSwatch } from '@/charts/layers'
import { SaveMenu } from '@/charts/SaveMenu'
import { ShareBar } from '@/charts/ShareBar'
import { formatEstimate } from '@/lib/format'
import { LIMITS } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { limitsFigure } from '../figures'

/** Shares of time per condition: bars with their numbers. */
export function SharesPanel({ groups, campaign }: { groups: readonly LimitGroup[]; campaign: string }) {
  const isShared = (condition: string) => groups.filter((group) => group.condition === condition).length > 1
  return (
    <Panel
      title="What limited the flows"
      description="Share of a flow's time for which each window, the send buffer or the application held it: mean over runs with its 95 % confidence interval, in percent."
      isFlush
      actions={<SaveMenu what="What limited the flows" figure={() => limitsFigure(groups, campaign)} />}
    >
      <Group component="p" gap="4px 20px" fz="sm" m={0} px="md" pb={6}>
        {LIMITS.map(({ name, title }, layer) => (
          <span key={name}>
            <LayerSwatch layer={layer} />
            {title}
          </span>
        ))}
      </Group>
      <ScrollTable label="What limited the flows">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Condition</Table.Th>
            <Table.Td />
            {LIMITS.map(({ name, title }) => (
              <Table.Th key={name} scope="col" ta="right">
                {title}
              </Table.Th>
            ))}
            <Table.Th scope="col" ta="right">
              Runs
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <Table.Tr key={`${group.condition} ${group.flow}`}>
              <Table.Th scope="row" fw={500}>
                {group.condition}
                {isShared(group.condition) ? (
                  <Text span size="sm" c="dimmed">
                    {' '}
                    {group.cc} (flow {group.flow})
                  </Text>
                ) : null}
              </Table.Th>
              <Table.Td>
                <ShareBar shares={LIMITS.map(({ name }) => group.shares[name].mean)} />
              </Table.Td>
              {LIMITS.map(({ name }) => (
                <Table.Td key={name} ta="right">
                  {formatEstimate(group.shares[name], 100, 1)}
                </Table.Td>
              ))}
              <Table.Td ta="right">{group.runs}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}
