import { Box, Table } from '@mantine/core'
import type { CampaignDetail } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { METRICS, phaseTitle } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { precisionText, widthText } from './precision'

/** Of a campaign with `until`: how narrow each condition's mean is beside what is asked for, and why it ended. */
export function PrecisionPanel({ campaign: { precision } }: { campaign: CampaignDetail }) {
  if (!precision) return null
  const { asked, widths } = precision
  const metric = METRICS.find(({ name }) => name === asked.metric)
  const title = `${metric?.title ?? asked.metric}, ${phaseTitle(asked.phase).toLowerCase()}`
  const heads = ['Link', 'Condition', 'Runs', `Mean${metric?.unit ? `, ${metric.unit}` : ''}`, 'Known within', 'Narrow enough']
  return (
    <Box mb="md">
      <Panel title={`Until ${title} is known`} description={precisionText(precision)} isFlush>
        <ScrollTable label="Widths" aria-label="Widths" heads={heads}>
          {widths.map((one) => (
            <Table.Tr key={`${one.link}/${one.condition}`}>
              <Table.Td>{one.link}</Table.Td>
              <Table.Th scope="row">{one.condition}</Table.Th>
              <Table.Td>{one.runs}</Table.Td>
              <Table.Td>{formatNumber(one.mean === null ? null : one.mean * (metric?.factor ?? 1))}</Table.Td>
              <Table.Td>{widthText(one)}</Table.Td>
              <Table.Td>{one.is_narrow ? 'yes' : 'not yet'}</Table.Td>
            </Table.Tr>
          ))}
        </ScrollTable>
      </Panel>
    </Box>
  )
}
