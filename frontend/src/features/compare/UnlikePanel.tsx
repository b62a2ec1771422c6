import { Table } from '@mantine/core'
import { Fragment } from 'react'
import type { CampaignsCompared } from '@/api/types'
import { Swatch } from '@/charts/Swatch'
import { plural } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import classes from './compare.module.css'

type Unlike = CampaignsCompared['unlike']

const TITLES = { analysis: 'Analysis', link: 'Link', hosts: 'Hosts', condition: 'Settings and flows' } as const
/** So many rows are read at a look. */
const FEW = 8

/** "analysis 2, hosts 8". */
function countsText(unlike: Unlike): string {
  const found = (Object.keys(TITLES) as (keyof typeof TITLES)[]).map((aspect) => {
    const count = unlike.filter((one) => one.aspect === aspect).length
    return count > 0 ? `${TITLES[aspect].toLowerCase()} ${count}` : null
  })
  return found.filter(Boolean).join(', ')
}

/** What the sides do not have in common besides their numbers: it is part of every difference. */
export function UnlikePanel({ unlike, labels }: { unlike: Unlike; labels: readonly string[] }) {
  if (unlike.length === 0)
    return (
      <Panel
        title="What else is different"
        description="No recorded difference: settings, flows, hosts, link and analysis are the same. Weather and load are not recorded."
      >
        {null}
      </Panel>
    )
  const isOutdated = unlike.some(({ name }) => name === 'Analysis version')
  return (
    <Panel
      title="What else is different"
      description={`All of this is part of the differences below, as are weather and load, which are not recorded.${
        isOutdated ? ' Analysis versions differ: “downlink campaigns reanalyse” recomputes the older numbers.' : ''
      }`}
      isFlush
    >
      <details className={classes.unlike} open={unlike.length <= FEW}>
        <summary>
          {plural(unlike.length, 'thing')}: {countsText(unlike)}
        </summary>
        <ScrollTable label="What else is different" data-wraps>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">What</Table.Th>
              {labels.map((label, style) => (
                <Table.Th key={label} scope="col">
                  <Swatch style={style} /> {label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {unlike.map(({ aspect, name, values }, index) => (
              <Fragment key={`${aspect} ${name}`}>
                {unlike[index - 1]?.aspect === aspect ? null : (
                  <Table.Tr>
                    <Table.Th colSpan={labels.length + 1} scope="rowgroup" fw={600}>
                      {TITLES[aspect]}
                    </Table.Th>
                  </Table.Tr>
                )}
                <Table.Tr>
                  <Table.Th scope="row" fw={400}>
                    {name}
                  </Table.Th>
                  {values.map((value, side) => (
                    <Table.Td key={labels[side]}>{value}</Table.Td>
                  ))}
                </Table.Tr>
              </Fragment>
            ))}
          </Table.Tbody>
        </ScrollTable>
      </details>
    </Panel>
  )
}
