import { Table, Text } from '@mantine/core'
import type { Fairness } from '@/api/types'
import { formatEstimate, formatNumber } from '@/lib/format'
import { phaseTitle } from '@/lib/quantities'
import { MBPS_PER_BPS } from '@/lib/units'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'

/** Jain's index and the throughput difference per phase, where flows compete. */
export function FairnessPanel({ fairness }: { fairness: Fairness[] }) {
  if (fairness.length === 0) return null
  return (
    <Panel
      title="Fairness between flows"
      description="Jain's index runs from 1/n (one flow takes all) to 1 (equal shares). The difference is flow 1 minus flow 2, the ratio flow 1 over flow 2 (geometric mean of the runs)."
      isFlush
    >
      <ScrollTable label="Fairness per condition and phase">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Condition</Table.Th>
            <Table.Th scope="col">Phase</Table.Th>
            <Table.Th scope="col" ta="right">
              Jain's index, mean of runs
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Jain's index of means
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Difference, Mb/s
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Ratio
            </Table.Th>
            <Table.Th scope="col" ta="right">
              n
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fairness.map((one) => (
            <Table.Tr key={`${one.condition} ${one.phase}`}>
              <Table.Th scope="row" fw={500}>
                {one.condition}{' '}
                <Text span size="xs" c="dimmed">
                  {one.flows} flows
                </Text>
              </Table.Th>
              <Table.Td>{phaseTitle(one.phase)}</Table.Td>
              <Table.Td ta="right">{formatEstimate(one.jain, 1, 2)}</Table.Td>
              <Table.Td ta="right">{formatNumber(one.jain_of_means, 2)}</Table.Td>
              <Table.Td ta="right">{formatEstimate(one.difference_bps, MBPS_PER_BPS)}</Table.Td>
              <Table.Td ta="right">{formatEstimate(one.ratio, 1, 2)}</Table.Td>
              <Table.Td ta="right">{one.jain.n}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}
