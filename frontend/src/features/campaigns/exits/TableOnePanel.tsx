import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ExitGroup } from '@/api/types'
import { NO_VALUE } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { groupLabel, shareText, timeText } from './groups'

const TIMES = [
  { name: 'cg_s', title: 'cg: capacity' },
  { name: 'ex_s', title: 'ex: exit' },
  { name: 'dp_s', title: 'dp: first loss' },
  { name: 'hr_s', title: 'hr: headroom' },
] as const

/** Paper 002's Table I, a line per link and condition. */
export function TableOnePanel({ groups, actions }: { groups: ExitGroup[]; actions: ReactNode }) {
  return (
    <Panel
      title="Table I: SEARCH 1.0"
      description="Success is cg ≤ ex < dp, with Wilson's 95 % interval. Times are means ± half of Student's 95 % interval over the runs that have them (n); hr counts successful runs."
      actions={actions}
      isFlush
    >
      <ScrollTable label="Table I per link and condition">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Link and condition</Table.Th>
            <Table.Th scope="col" ta="right">
              Runs
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Success
            </Table.Th>
            {TIMES.map(({ name, title }) => (
              <Table.Th key={name} scope="col" ta="right">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <Row key={groupLabel(group, groups)} label={groupLabel(group, groups)} group={group} />
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}

function Row({ label, group: { runs, table } }: { label: string; group: ExitGroup }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={550}>
        {label}
      </Table.Th>
      <Table.Td ta="right">{runs}</Table.Td>
      {table ? (
        <>
          <Table.Td ta="right">{shareText(table.success_percent)}</Table.Td>
          {TIMES.map(({ name }) => (
            <Table.Td key={name} ta="right">
              {timeText(table[name])}
              {table[name] ? <small> n={table[name].n}</small> : null}
            </Table.Td>
          ))}
        </>
      ) : (
        <Table.Td colSpan={TIMES.length + 1}>{NO_VALUE} samples too coarse for SEARCH; measure with sampling: per_ack</Table.Td>
      )}
    </Table.Tr>
  )
}
