import { Button, Table } from '@mantine/core'
import { useDisclosure, useId } from '@mantine/hooks'
import type { SweepCell } from '@/api/types'
import { formatNumber, NO_VALUE } from '@/lib/format'
import { ScrollBox } from '@/ui/ScrollBox'
import { PERCENT, shareText } from '../campaign/groups'

const SHARES = ['good', 'early', 'late', 'open'] as const

/** Every parameter set with its shares, their intervals and n; made only when asked for. */
export function SetsTable({ cells }: { cells: SweepCell[] }) {
  const [isOpen, { toggle }] = useDisclosure(false)
  const id = useId()
  return (
    <>
      <Button size="xs" variant="default" mt="lg" aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
        {isOpen ? 'Hide numbers' : 'Numbers'}
      </Button>
      <div id={id}>{isOpen ? <Sets cells={cells} /> : null}</div>
    </>
  )
}

function Sets({ cells }: { cells: SweepCell[] }) {
  const names = Object.keys(cells[0]?.parameters ?? {})
  const heads = [...names, 'n', ...SHARES, 'headroom, s']
  const label = 'Every parameter set'
  return (
    <ScrollBox label={label} maxHeight={420}>
      <Table stickyHeader withRowBorders={false} striped verticalSpacing={2} fz="xs" style={{ whiteSpace: 'nowrap' }}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head} scope="col" ta="right">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cells.map((cell) => (
            <Table.Tr key={names.map((name) => cell.parameters[name]).join()}>
              {[...names.map((name) => cell.parameters[name]), cell.n, ...shares(cell), formatNumber(cell.headroom_s)].map(
                (value, column) => (
                  <Table.Td key={heads[column]} ta="right">
                    {value}
                  </Table.Td>
                ),
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}

function shares(cell: SweepCell): string[] {
  return SHARES.map((name) => {
    const share = cell.shares?.[name]
    return share ? shareText(share, PERCENT) : NO_VALUE
  })
}
