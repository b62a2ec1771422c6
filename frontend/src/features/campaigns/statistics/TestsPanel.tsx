import { Table } from '@mantine/core'
import type { Evidence } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { PHASE_TITLES } from '../results/series'
import { formatP, MEASURES, type Place, pairName, testsVerdict } from './evidence'

const HEADS = ['Compared', 'Metric', 'KS distance', 'Shape, p', 'Level, p', 'Reading']

/** Whether runs of two conditions are drawn from one distribution, for all metrics of the chosen phase. */
export function TestsPanel({ comparisons, place }: { comparisons: readonly Evidence[]; place: Place }) {
  const rank = (metric: string) => MEASURES.findIndex(({ name }) => name === metric)
  const own = comparisons
    .filter(({ link, flow, phase }) => link === place.link && flow === place.flow && phase === place.phase)
    .sort((a, b) => rank(a.metric) - rank(b.metric))
  return (
    <Panel
      title={`Distributions, ${PHASE_TITLES[place.phase].toLowerCase()}`}
      description={`KS distance: the largest gap between the two cumulative distributions, 0 to 1. Shape: Kolmogorov-Smirnov test. Level: Mann-Whitney test. p values are corrected (Holm) over all ${comparisons.length} comparisons of this campaign; below 0.05 is a difference. With few cycles they show less than the paired differences above.`}
      isFlush
    >
      <ScrollTable label="Tests of distributions">
        <Table.Thead>
          <Table.Tr>
            {HEADS.map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {own.map((one) => (
            <Table.Tr key={`${one.condition} ${one.metric}`}>
              <Table.Th scope="row" fw={500}>
                {pairName(one)}
              </Table.Th>
              <Table.Td>{MEASURES[rank(one.metric)]?.title ?? one.metric}</Table.Td>
              <Table.Td>{formatNumber(one.ks_distance, 2)}</Table.Td>
              <Table.Td>{formatP(one.shape_p)}</Table.Td>
              <Table.Td>{formatP(one.location_p)}</Table.Td>
              <Table.Td>{testsVerdict(one)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}
