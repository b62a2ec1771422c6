import { Table, Text } from '@mantine/core'
import type { PhaseName, Report } from '@/api/types'
import { formatEstimate, plural } from '@/lib/format'
import { LINKED, LOST, phaseTitle, type Quantity } from '@/lib/quantities'
import { Estimate } from '@/ui/Estimate'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'

type LinkGroup = Report['links'][number]

/** What an emulated link did in a phase, by its own log, and what it lost of each flow. Links without a log have none. */
export function LinkPanel({ links, phase }: { links: readonly LinkGroup[]; phase: PhaseName }) {
  if (links.length === 0) return null
  const without = links.reduce((sum, one) => sum + one.without_log, 0)
  return (
    <Panel
      title={`The emulated link, ${phaseTitle(phase).toLowerCase()}`}
      description="By the link's own log, on the way to the receiver. Mean over runs with its 95 % confidence interval. Congestion: a full queue, and its random drop."
      isFlush
    >
      <ScrollTable label={`The emulated link, ${phaseTitle(phase)}`} data-wraps>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Quantity</Table.Th>
            {links.map(({ condition, runs }) => (
              <Table.Th key={condition} scope="col" ta="right">
                {condition} (n = {runs})
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {LINKED.map((quantity) => (
            <Row
              key={quantity.name}
              title={quantity.title}
              quantity={quantity}
              links={links}
              read={(link) => link.metrics[phase]?.[quantity.name]}
            />
          ))}
          {flowsOf(links).flatMap((flow) =>
            LOST.map((quantity) => (
              <Row
                key={`${flow} ${quantity.name}`}
                title={`Flow ${flow}, whole run: ${quantity.title.toLowerCase()}`}
                quantity={quantity}
                links={links}
                read={(link) => link.flows.find((one) => one.flow === flow)?.[quantity.name]}
              />
            )),
          )}
        </Table.Tbody>
      </ScrollTable>
      {without > 0 ? (
        <Text size="sm" c="dimmed" px="md" py="sm">
          {plural(without, 'run has', 'runs have')} no log of the link and {without === 1 ? 'is' : 'are'} not in these means.
        </Text>
      ) : null}
    </Panel>
  )
}

const flowsOf = (links: readonly LinkGroup[]) =>
  [...new Set(links.flatMap(({ flows }) => flows.map(({ flow }) => flow)))].sort((a, b) => a - b)

interface RowProps {
  title: string
  quantity: Quantity
  links: readonly LinkGroup[]
  read: (link: LinkGroup) => Parameters<typeof formatEstimate>[0]
}

function Row({ title, quantity, links, read }: RowProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {title}, {quantity.unit}
      </Table.Th>
      {links.map((link) => (
        <Table.Td key={link.condition} ta="right">
          <Estimate text={formatEstimate(read(link), quantity.factor)} />
        </Table.Td>
      ))}
    </Table.Tr>
  )
}
