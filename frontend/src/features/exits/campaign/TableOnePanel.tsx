import { Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ExitGroup, ShareEstimate } from '@/api/types'
import { NO_VALUE } from '@/lib/format'
import { Estimate } from '@/ui/Estimate'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { groupLabel, shareText, timeText } from './groups'

type TableOne = NonNullable<ExitGroup['table']>

const TIMES = [
  { name: 'capacity_s', title: 'Capacity' },
  { name: 'cg_s', title: 'cg' },
  { name: 'ex_s', title: 'ex' },
  { name: 'dp_s', title: 'dp: first loss' },
  { name: 'hr_s', title: 'hr = dp − ex' },
] as const
type TimeName = (typeof TIMES)[number]['name']
const PAPER = ['cg_s', 'ex_s', 'dp_s', 'hr_s'] as const

interface TableOnePanelProps {
  groups: ExitGroup[]
  isImported: boolean
  actions: ReactNode
}

/** Kachooei 2023's Table I, a line per link and condition, with the capacity point that exits are judged by beside the paper's. */
export function TableOnePanel({ groups, isImported, actions }: TableOnePanelProps) {
  return (
    <Panel
      title="Table I: SEARCH 1.0"
      description="As in the paper on SEARCH (Kachooei 2023), over the flows that were in slow start until their first loss. cg: the curve of SEARCH 1.0 first indicates a full link (more than 10 % of the bytes sent one RTT ago are undelivered). ex: SEARCH leaves slow start (more than 25 %). Success: cg ≤ ex < dp, with Wilson's 95 % interval. hr: headroom, over all runs and over the successful ones. Binning error: mean error of the curve caused by binning, as in its Figure 6b. Capacity does not come from that curve; it judges the exits below. Times are means with Student's 95 % interval over the runs that have them (n)."
      actions={actions}
      isFlush
    >
      <ScrollTable label="Table I per link and condition" role="table" data-stacks>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            <Table.Th scope="col" role="columnheader">
              Link and condition
            </Table.Th>
            <Table.Th scope="col" role="columnheader" ta="right">
              Runs
            </Table.Th>
            <Table.Th scope="col" role="columnheader" ta="right">
              Success
            </Table.Th>
            {TIMES.map(({ name, title }) => (
              <Table.Th key={name} scope="col" role="columnheader" ta="right">
                {title}
              </Table.Th>
            ))}
            <Table.Th scope="col" role="columnheader" ta="right">
              Error of bins
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {groups.map((group) => (
            <Rows key={groupLabel(group, groups)} label={groupLabel(group, groups)} group={group} isImported={isImported} />
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}

interface RowsProps {
  label: string
  group: ExitGroup
  isImported: boolean
}

function Rows({ label, group, isImported }: RowsProps) {
  const { table } = group
  return (
    <>
      <Table.Tr role="row">
        <Table.Th scope="row" role="rowheader" fw={550}>
          {label}
          <Left group={group} />
        </Table.Th>
        <Table.Td role="cell" data-label="Runs" ta="right">
          {table?.runs ?? 0}
        </Table.Td>
        {table ? (
          <Means table={table} />
        ) : (
          <Table.Td role="cell" data-whole colSpan={TIMES.length + 2}>
            {whyNone(group, isImported)}
          </Table.Td>
        )}
      </Table.Tr>
      {table?.common && isOverOthers(table) ? <Common common={table.common} /> : null}
    </>
  )
}

function Left({ group: { runs, left_early } }: { group: ExitGroup }) {
  if (left_early === 0) return null
  return (
    <Text size="xs" c="dimmed">
      {left_early} of {runs} left slow start before a loss: not in the table
    </Text>
  )
}

function Means({ table }: { table: TableOne }) {
  return (
    <>
      <Table.Td role="cell" data-label="Success" ta="right">
        {shareText(table.success_percent)}
      </Table.Td>
      {TIMES.map(({ name }) => (
        <Time key={name} name={name} time={table[name]}>
          {name === 'hr_s' ? <Text size="xs">successes: {withN(table.success_hr_s)}</Text> : null}
        </Time>
      ))}
      <Table.Td role="cell" data-label="Error of bins" ta="right">
        {table.error_percent ? shareText(table.error_percent) : NO_VALUE}
      </Table.Td>
    </>
  )
}

/** Whether a column is over other runs than those that have all three times. */
function isOverOthers({ common, ...table }: TableOne): boolean {
  return PAPER.some((name) => table[name]?.n !== common?.[name].n)
}

/** The line whose columns are all over the same runs, as the paper's are. */
function Common({ common }: { common: NonNullable<TableOne['common']> }) {
  return (
    <Table.Tr role="row">
      <Table.Th scope="row" role="rowheader" fw={400}>
        the same over the runs with cg, ex and dp
      </Table.Th>
      <Table.Td role="cell" data-label="Runs" ta="right">
        {common.hr_s.n}
      </Table.Td>
      <Table.Td role="cell" />
      <Table.Td role="cell" />
      {PAPER.map((name) => (
        <Time key={name} name={name} time={common[name]} />
      ))}
      <Table.Td role="cell" />
    </Table.Tr>
  )
}

function Time({ name, time, children }: { name: TimeName; time: ShareEstimate | null; children?: ReactNode }) {
  return (
    <Table.Td role="cell" data-label={TIMES.find((one) => one.name === name)?.title} ta="right" style={{ whiteSpace: 'normal' }}>
      {withN(time)}
      {children}
    </Table.Td>
  )
}

function withN(time: ShareEstimate | null): ReactNode {
  return (
    <>
      <Estimate text={timeText(time)} />
      {time ? <small> n={time.n}</small> : null}
    </>
  )
}

function whyNone({ runs, left_early }: ExitGroup, isImported: boolean): string {
  if (left_early === runs) return `${NO_VALUE} every flow left slow start before a loss`
  return `${NO_VALUE} samples too coarse for SEARCH${isImported ? '' : '; measure with sampling: per_ack'}`
}
