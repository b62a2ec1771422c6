import { SegmentedControl } from '@mantine/core'
import { useMemo } from 'react'
import type { CampaignRates, CampaignReproduction } from '@/api/types'
import type { Source } from '@/lib/captions'
import { formatNumber } from '@/lib/format'
import { MBPS_PER_BPS } from '@/lib/units'
import { Empty } from '@/ui/Empty'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { useRates, useReproduction } from '../queries'
import { CdfChart, CdfNumbers } from './CdfChart'
import { publishedShares } from './cdf'
import { RATE_TITLES, type RateName, type RateRow, rateRows } from './rates'
import type { RATES } from './search'
import type { LabelledGroup } from './series'

const loadFigures = () => loadTwice(() => import('./figures'))

type Kind = (typeof RATES)[number]
const NAMES: Record<Kind, RateName> = { throughput: 'throughput_bps', goodput: 'goodput_bps' }
const CHOICES = [
  { value: 'throughput', label: 'Throughput' },
  { value: 'goodput', label: 'Goodput' },
]
const HEADS = ['Mean', 'Median', '5 %', '95 %', 'Seconds', 'Runs']

interface RatesPanelProps {
  campaignId: string
  groups: LabelledGroup[]
  source: Source
  kind: Kind
  onKind: (kind: Kind) => void
}

/** What flows carried in each second, over all seconds of each condition. */
export function RatesPanel({ campaignId, ...props }: RatesPanelProps) {
  const rates = useRates(campaignId)
  const reproduction = useReproduction(campaignId).data
  return (
    <QueryPanel query={rates} skeletonRows={6}>
      {(data) => <Content {...props} {...{ reproduction }} rates={data} />}
    </QueryPanel>
  )
}

interface ContentProps extends Omit<RatesPanelProps, 'campaignId'> {
  rates: CampaignRates
  reproduction: CampaignReproduction | undefined
}

function Content({ rates, reproduction, groups, source, kind, onKind }: ContentProps) {
  const name = NAMES[kind]
  const rows = useMemo(() => rateRows(rates, groups, name), [rates, groups, name])
  const published = useMemo(() => publishedShares(reproduction, groups, name), [reproduction, groups, name])
  const title = `${RATE_TITLES[name]} of single seconds`
  return (
    <Panel
      title={title}
      description="All whole seconds of all runs, from start-up to the end. Seconds without data are 0. The axis ends where every condition has 99 % of its seconds."
      isFlush
      actions={
        <SegmentedControl size="xs" aria-label="Which rate" value={kind} onChange={(value) => onKind(value as Kind)} data={CHOICES} />
      }
    >
      {rows.length === 0 ? (
        <Empty title={`No ${RATE_TITLES[name].toLowerCase()} is known`}>What these runs left does not say it for single seconds.</Empty>
      ) : (
        <>
          <CdfChart
            {...{ rows, published, shares: rates.shares, title, axis: title }}
            counted="seconds"
            unit="Mb/s"
            figure={async () => (await loadFigures()).ratesFigure({ rows, published, shares: rates.shares, metric: name, source })}
          />
          <CdfNumbers label={`${title} by condition`} caption="In Mb/s." heads={HEADS} rows={rows.map(numbers)} />
        </>
      )}
    </Panel>
  )
}

function numbers({ label, style, runs, rate }: RateRow) {
  const values = [rate.mean_bps, rate.median_bps, rate.p5_bps, rate.p95_bps]
  const shown = values.map((value) => formatNumber(value === null ? null : value * MBPS_PER_BPS))
  return { label, style, cells: [...shown, rate.n.toLocaleString('en'), `${rate.runs} of ${runs}`] }
}
