import { Code, SegmentedControl, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { CampaignDelays, CampaignReproduction } from '@/api/types'
import type { Source } from '@/lib/captions'
import { formatNumber, plural } from '@/lib/format'
import { Empty } from '@/ui/Empty'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { useDelays, useReproduction } from '../queries'
import { CdfChart, CdfNumbers } from './CdfChart'
import { publishedShares } from './cdf'
import { DELAY_WORDS, type DelayKind, type DelayRow, delayRows, leftOut } from './delays'
import type { DELAY_KINDS } from './search'
import type { LabelledGroup } from './series'

const loadFigures = () => loadTwice(() => import('./figures'))

type Kind = (typeof DELAY_KINDS)[number]
const KINDS: Record<Kind, DelayKind> = { arrival: 'one_way_delay', order: 'in_order_delay', jitter: 'jitter' }
const CHOICES = [
  { value: 'arrival', label: 'Arrival' },
  { value: 'order', label: 'In order' },
  { value: 'jitter', label: 'Jitter' },
]

interface DelaysPanelProps {
  campaignId: string
  groups: LabelledGroup[]
  source: Source
  kind: Kind
  onKind: (kind: Kind) => void
}

/** How long blocks took, or by how much that changed from second to second, over all blocks of each condition, where delivery tables were kept. */
export function DelaysPanel({ campaignId, ...props }: DelaysPanelProps) {
  const delays = useDelays(campaignId)
  const reproduction = useReproduction(campaignId).data
  return (
    <QueryPanel query={delays} skeletonRows={6}>
      {(data) => <Content {...props} {...{ reproduction }} delays={data} />}
    </QueryPanel>
  )
}

interface ContentProps extends Omit<DelaysPanelProps, 'campaignId'> {
  delays: CampaignDelays
  reproduction: CampaignReproduction | undefined
}

function Content({ delays, reproduction, groups, source, kind, onKind }: ContentProps) {
  const rows = useMemo(() => delayRows(delays, groups, KINDS[kind]), [delays, groups, kind])
  const words = DELAY_WORDS[KINDS[kind]]
  const published = useMemo(() => publishedShares(reproduction, groups, words.metric), [reproduction, groups, words])
  if (rows.length === 0)
    return (
      <Panel title={words.title}>
        <Empty title="No delivery tables were kept">
          Write <Code>deliveries: true</Code> in the campaign file: agents then record when each block left, arrived and was in order.
        </Empty>
      </Panel>
    )
  return (
    <Panel
      title={words.title}
      description={`${words.definition} All ${words.counted} have equal weight, so runs with more of them weigh more. The axis ends where every condition has 99 % of them.`}
      isFlush
      actions={
        <SegmentedControl size="xs" aria-label="Which delay" value={kind} onChange={(value) => onKind(value as Kind)} data={CHOICES} />
      }
    >
      <CdfChart
        {...{ rows, published, shares: delays.shares, title: words.title, counted: words.counted, axis: words.axis }}
        unit="ms"
        figure={async () => (await loadFigures()).delaysFigure({ rows, published, shares: delays.shares, kind: KINDS[kind], source })}
      />
      <CdfNumbers
        label={`${words.title} by condition`}
        caption={`In ms. Clocks: by how much those of both ends may differ, in the worst run${kind === 'jitter' ? '; jitter does not depend on it' : ''}.`}
        heads={['Mean', 'Median', '5 %', '95 %', 'Clocks', words.head, 'Runs']}
        rows={rows.map(numbers)}
      />
      {leftOut(rows).map(({ sentence, runs }) => (
        <Text key={sentence} size="sm" px="md" pb="sm">
          {plural(runs, 'run')} left out. {sentence}
        </Text>
      ))}
    </Panel>
  )
}

function numbers({ label, style, runs, delay }: DelayRow) {
  const values = [delay.mean_ms, delay.median_ms, delay.p5_ms, delay.p95_ms].map((value) => formatNumber(value))
  const error = delay.clock_error_ms === null ? '–' : `± ${formatNumber(delay.clock_error_ms)}`
  return { label, style, cells: [...values, error, delay.n.toLocaleString('en'), `${delay.runs} of ${runs}`] }
}
