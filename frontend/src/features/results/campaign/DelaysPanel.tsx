import { Code, SegmentedControl, Table, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { CampaignDelays } from '@/api/types'
import { CursorSlider } from '@/charts/CursorSlider'
import { CurveChart, cursorStep } from '@/charts/CurveChart'
import { CurveTable } from '@/charts/CurveTable'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { SeriesNames } from '@/charts/SeriesNames'
import { Swatch } from '@/charts/Swatch'
import type { Source } from '@/lib/captions'
import { formatNumber, plural } from '@/lib/format'
import { Empty } from '@/ui/Empty'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollBox } from '@/ui/ScrollBox'
import { useDelays } from '../queries'
import { DELAY_WORDS, type DelayKind, type DelayRow, type DelayWords, delayCurves, delayRows, leftOut } from './delays'
import type { DELAY_KINDS } from './search'
import type { LabelledGroup } from './series'

const loadFigures = () => loadTwice(() => import('./figures'))

const REACH = [0, 100] as const
const HEIGHT = 260
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
  return (
    <QueryPanel query={delays} skeletonRows={6}>
      {(data) => <Content {...props} delays={data} />}
    </QueryPanel>
  )
}

function Content({ delays, groups, source, kind, onKind }: Omit<DelaysPanelProps, 'campaignId'> & { delays: CampaignDelays }) {
  const [picked, setPicked] = useState<string | null>(null)
  const rows = useMemo(() => delayRows(delays, groups, KINDS[kind]), [delays, groups, kind])
  const { from, to, x, curves } = useMemo(() => delayCurves(rows, delays.shares), [rows, delays.shares])
  const words = DELAY_WORDS[KINDS[kind]]
  const unit = `% of the ${words.counted}, up to here`
  if (rows.length === 0)
    return (
      <Panel title={words.title}>
        <Empty title="No delivery tables were kept">
          Write <Code>deliveries: true</Code> in the campaign file: agents then note when each block left, arrived and was there in order.
        </Empty>
      </Panel>
    )
  const shared = { x, curves, from, to, factor: 1 }
  return (
    <Panel
      title={words.title}
      description={`${words.definition} All ${words.counted} count alike; a run with more of them counts for more. The axis ends where every condition has 99 % of them.`}
      isFlush
      actions={
        <SegmentedControl size="xs" aria-label="Which delay" value={kind} onChange={(value) => onKind(value as Kind)} data={CHOICES} />
      }
    >
      {curves.length === 0 ? null : (
        <CursorProvider>
          <SeriesNames series={curves} onPick={setPicked} />
          <CursorSlider from={from} to={to} unit="ms" step={cursorStep(from, to)} />
          <Frame
            title="Cumulative distribution"
            unit={unit}
            height={HEIGHT}
            figure={async () => (await loadFigures()).delaysFigure(rows, delays.shares, KINDS[kind], source)}
            table={() => <CurveTable caption={`${words.title}: ${unit}`} xLabel="ms" {...shared} />}
          >
            {(width) => <CurveChart {...shared} {...{ width, picked }} height={HEIGHT} reach={REACH} hasTimeAxis isStepped />}
          </Frame>
          <Text size="xs" c="dimmed" ta="center" pb="sm">
            {words.axis}, ms
          </Text>
        </CursorProvider>
      )}
      <DelaysTable rows={rows} words={words} />
      {leftOut(rows).map(({ sentence, runs }) => (
        <Text key={sentence} size="sm" px="md" pb="sm">
          {plural(runs, 'run')} left out. {sentence}
        </Text>
      ))}
    </Panel>
  )
}

const HEADS = ['Mean', 'Median', '5 %', '95 %'] as const

function DelaysTable({ rows, words }: { rows: readonly DelayRow[]; words: DelayWords }) {
  return (
    <ScrollBox label={`${words.title} by condition`}>
      <Table>
        <Table.Caption>
          In ms. Clocks: by how much those of both ends may differ, in the worst run
          {words === DELAY_WORDS.jitter ? '; jitter does not depend on it' : ''}.
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Condition</Table.Th>
            {[...HEADS, 'Clocks', words.head, 'Runs'].map((head) => (
              <Table.Th key={head} scope="col" ta="right">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ label, style, runs, delay }) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" fw={400}>
                <Swatch style={style} /> {label}
              </Table.Th>
              {[delay.mean_ms, delay.median_ms, delay.p5_ms, delay.p95_ms].map((value, index) => (
                <Table.Td key={HEADS[index]} ta="right">
                  {formatNumber(value)}
                </Table.Td>
              ))}
              <Table.Td ta="right">{delay.clock_error_ms === null ? '–' : `± ${formatNumber(delay.clock_error_ms)}`}</Table.Td>
              <Table.Td ta="right">{delay.n.toLocaleString('en')}</Table.Td>
              <Table.Td ta="right">
                {delay.runs} of {runs}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
