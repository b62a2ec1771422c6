import { Text } from '@mantine/core'
import type { CampaignDay } from '@/api/types'
import { secondsOf } from '@/charts/clock'
import { QuantityStrip } from '@/charts/QuantityStrip'
import { formatNumber } from '@/lib/format'
import { binsOf, quantityTitle } from '@/lib/quantityOfLink'
import { Panel } from '@/ui/Panel'
import { StackedTable } from '@/ui/StackedTable'
import { useCampaignCorrelations, useCampaignQuantities } from './queries'

interface QuantitiesPanelProps {
  day: CampaignDay
  metric: string
  metricTitle: string
}

/** What dish, modem and weather were like over the same time, and how it goes with the metric. Nothing where nobody observed. */
export function QuantitiesPanel({ day, metric, metricTitle }: QuantitiesPanelProps) {
  const { data } = useCampaignQuantities(day.campaign_id)
  const strips = data?.items ?? []
  if (strips.length === 0 || !day.from_at || !day.to_at) return null
  const span = { from_s: secondsOf(day.from_at), to_s: secondsOf(day.to_at) }
  const links = [...new Set(strips.map(({ link }) => link))]
  return (
    <>
      {links.map((link) => (
        <Panel
          key={link}
          title={`Dish and weather of ${link}`}
          description="By clock time, in UTC: mean, with a band from minimum to maximum."
          isFlush
        >
          {strips
            .filter((strip) => strip.link === link)
            .map((strip) => (
              <QuantityStrip
                key={`${strip.quantity} ${strip.source}`}
                title={quantityTitle(strip.quantity)}
                unit={strip.unit}
                note={strip.source}
                bins={binsOf(strip)}
                {...span}
              />
            ))}
        </Panel>
      ))}
      <Correlations campaignId={day.campaign_id} phase={day.phase} {...{ metric, metricTitle }} />
    </>
  )
}

interface CorrelationsProps {
  campaignId: string
  phase: string
  metric: string
  metricTitle: string
}

function Correlations({ campaignId, phase, metric, metricTitle }: CorrelationsProps) {
  const found = useCampaignCorrelations(campaignId, phase, metric).data?.items ?? []
  if (found.length === 0) return null
  return (
    <Panel
      title={`How it goes with ${metricTitle.toLowerCase()}`}
      description="Spearman’s rank correlation over complete runs, with its 95 % interval. Correlation does not show causation."
      isFlush
    >
      <StackedTable
        label="Rank correlations"
        heads={['Quantity', 'Runs', 'Correlation', 'Interval', 'Condition', 'Link']}
        whole={['Quantity']}
        rows={found.map((one) => ({
          key: `${one.link} ${one.condition} ${one.flow} ${one.quantity} ${one.source}`,
          cells: [
            `${quantityTitle(one.quantity)} (${one.source})`,
            one.n,
            one.rho === null ? (
              <Text key="why" size="sm" c="dimmed">
                {one.why}
              </Text>
            ) : (
              formatNumber(one.rho, 2)
            ),
            one.low === null || one.high === null
              ? one.rho === null
                ? ''
                : one.why
              : `${formatNumber(one.low, 2)} to ${formatNumber(one.high, 2)}`,
            `${one.condition}, flow ${one.flow}`,
            one.link,
          ],
        }))}
      />
    </Panel>
  )
}
