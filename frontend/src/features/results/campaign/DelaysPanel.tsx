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
import { type DelayKind, type DelayRow, delayCurves, delayRows, leftOut } from './delays'
import type { DELAY_KINDS } from './search'
import type { LabelledGroup } from './series'

const loadFigures = () => loadTwice(() => import('./figures'))

const REACH = [0, 100] as const
const HEIGHT = 260
const UNIT = '% of the blocks, up to here'
const TITLE = 'One-way delay of blocks'
type Kind = (typeof DELAY_KINDS)[number]
const KINDS: Record<Kind, DelayKind> = { arrival: 'one_way_delay', order: 'in_order_delay' }
const CHOICES = [
  { value: 'arrival', label: 'Arrival' },
  { value: 'order', label: 'In order' },
]
const SPANS: Record<Kind, string> = {
  arrival: 'From when a block left the sender first, or a message was offered, until all of it had arrived.',
  order: 'From when a block left the sender first, or a message was offered, until it was there in order, as a program waits for it.',
}

interface DelaysPanelProps {
  campaignId: string
  groups: LabelledGroup[]
  source: Source
  kind: Kind
  onKind: (kind: Kind) => void
}

/** How long blocks took, over all blocks of each condition, where delivery tables were kept. */
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
  if (rows.length === 0)
    return (
      <Panel title={TITLE}>
        <Empty title="No delivery tables were kept">
          Write <Code>deliveries: true</Code> in the campaign file: agents then note when each block left, arrived and was there in order.
        </Empty>
      </Panel>
    )
  const shared = { x, curves, from, to, factor: 1 }
  return (
    <Panel
      title={TITLE}
      description={`${SPANS[kind]} Every block counts once; a run with more blocks counts for more. The axis ends where every condition has 99 % of its blocks.`}
      isFlush
      actions={
        <SegmentedControl size="xs" aria-label="Until when" value={kind} onChange={(value) => onKind(value as Kind)} data={CHOICES} />
      }
    >
      {curves.length === 0 ? null : (
        <CursorProvider>
          <SeriesNames series={curves} onPick={setPicked} />
          <CursorSlider from={from} to={to} unit="ms" step={cursorStep(from, to)} />
          <Frame
            title="Cumulative distribution"
            unit={UNIT}
            height={HEIGHT}
            figure={async () => (await loadFigures()).delaysFigure(rows, delays.shares, KINDS[kind], source)}
            table={() => <CurveTable caption={`${TITLE}: ${UNIT}`} xLabel="ms" {...shared} />}
          >
            {(width) => <CurveChart {...shared} {...{ width, picked }} height={HEIGHT} reach={REACH} hasTimeAxis isStepped />}
          </Frame>
          <Text size="xs" c="dimmed" ta="center" pb="sm">
            One-way delay{kind === 'order' ? ' in order' : ''}, ms
          </Text>
        </CursorProvider>
      )}
      <DelaysTable rows={rows} />
      {leftOut(rows).map(({ sentence, runs }) => (
        <Text key={sentence} size="sm" px="md" pb="sm">
          {plural(runs, 'run')} left out. {sentence}
        </Text>
      ))}
    </Panel>
  )
}

const HEADS = ['Mean', 'Median', '5 %', '95 %'] as const

function DelaysTable({ rows }: { rows: readonly DelayRow[] }) {
  return (
    <ScrollBox label={`${TITLE} by condition`}>
      <Table>
        <Table.Caption>Delays in ms. Clocks: by how much those of both ends may differ, in the worst run.</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Condition</Table.Th>
            {[...HEADS, 'Clocks', 'Blocks', 'Runs'].map((head) => (
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
