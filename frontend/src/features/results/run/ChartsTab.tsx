import { Group, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { Run, RunSeries } from '@/api/types'
import { BandChart } from '@/charts/BandChart'
import { BandTable } from '@/charts/BandTable'
import { readingAt } from '@/charts/bands'
import { CursorSlider } from '@/charts/CursorSlider'
import { CursorProvider, useCursor } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { SaveMenu } from '@/charts/SaveMenu'
import { Swatch } from '@/charts/Swatch'
import { formatNumber } from '@/lib/format'
import type { RUN_STACKED } from '@/lib/quantities'
import { Empty } from '@/ui/Empty'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { useRunSeries } from '../queries'
import classes from './charts.module.css'
import { flowLabel, flowSeries, knownQuantities, lastBin } from './series'

const loadFigures = () => loadTwice(() => import('./figures'))

/** The run's own one-second series, flow by flow. */
export function ChartsTab({ run }: { run: Run }) {
  const series = useRunSeries(run.id)
  return (
    <Panel title="Over time" description="One-second bins from the flow's first data byte. Gaps are bins without a sample." isFlush>
      <QueryPanel
        query={series}
        empty={({ flows }) =>
          flows.every(({ bin_s }) => bin_s.length === 0) ? (
            <Empty title="No series">
              {run.reason
                ? 'The run ended without a usable trace; its reason is above.'
                : 'They appear when the traces are uploaded and sealed.'}
            </Empty>
          ) : null
        }
      >
        {(data) => <Charts run={run} series={data} />}
      </QueryPanel>
    </Panel>
  )
}

function Charts({ run, series }: { run: Run; series: RunSeries }) {
  const to = lastBin(series)
  const { known, unknown } = knownQuantities(series)
  return (
    <CursorProvider>
      <Values series={series} />
      <Group justify="flex-end" px="xs">
        <SaveMenu what="the whole stack" figure={async () => (await loadFigures()).runFigure(run, series, known, to)} />
      </Group>
      <div className={classes.stack}>
        <CursorSlider from={0} to={to} unit="s" />
        {known.map((quantity, index) => (
          <Quantity key={quantity.name} {...{ run, series, quantity, to }} isLast={index === known.length - 1} />
        ))}
        <Text size="xs" c="dimmed" ta="center" pb="sm">
          Seconds since the flow's first data byte
        </Text>
        <Unknown titles={unknown} />
      </div>
    </CursorProvider>
  )
}

/** A chart without a value would look like a fault. */
function Unknown({ titles }: { titles: readonly string[] }) {
  if (titles.length === 0) return null
  return (
    <Text size="sm" c="dimmed" px="md" pb="md">
      Not recorded in this run: {titles.join(', ').toLowerCase().replace('rtt', 'RTT')}.
    </Text>
  )
}

interface QuantityProps {
  run: Run
  series: RunSeries
  quantity: (typeof RUN_STACKED)[number]
  to: number
  isLast: boolean
}

function Quantity({ run, series, quantity, to, isLast }: QuantityProps) {
  const bands = useMemo(() => flowSeries(series, quantity.name), [series, quantity.name])
  const height = 130 + (isLast ? 24 : 0)
  const shared = { series: bands, from: 0, to, factor: quantity.factor, limit: quantity.limit }
  return (
    <Frame
      title={quantity.title}
      unit={quantity.unit}
      height={height}
      table={() => <BandTable caption={`${quantity.title}, ${quantity.unit}`} xLabel="s" {...shared} />}
      figure={async () => (await loadFigures()).runFigure(run, series, [quantity], to)}
    >
      {(width) => <BandChart {...shared} {...{ width, height }} hasBands={false} hasTimeAxis={isLast} />}
    </Frame>
  )
}

function Values({ series }: { series: RunSeries }) {
  const x = useCursor()
  return (
    <div className={classes.values}>
      {series.flows.map((flow, style) => (
        <div key={flow.flow}>
          <Swatch style={style} /> <strong>{flowLabel(flow)}</strong>
          {x === null ? null : (
            <span>
              {' '}
              at {x} s:{' '}
              {knownQuantities(series)
                .known.map((quantity) => {
                  const own = flowSeries({ ...series, flows: [flow] }, quantity.name)[0]
                  const mean = own ? readingAt(own, x)?.mean : null
                  return `${quantity.title} ${formatNumber(mean == null ? null : mean * quantity.factor)} ${quantity.unit.split(' ')[0]}`
                })
                .join(' · ')}
            </span>
          )}
        </div>
      ))}
    </div>
  )
}
