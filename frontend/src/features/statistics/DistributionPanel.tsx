import { Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { CursorSlider } from '@/charts/CursorSlider'
import { CurveChart, cursorStep } from '@/charts/CurveChart'
import { CurveTable } from '@/charts/CurveTable'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { SCREEN } from '@/charts/plot'
import { SeriesNames } from '@/charts/SeriesNames'
import { SpreadChart } from '@/charts/SpreadChart'
import { spreadHeight } from '@/charts/spreadShapes'
import type { Source } from '@/lib/captions'
import { phaseTitle } from '@/lib/quantities'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { distributionOf, hasOpen, type LabelledValues, shareUnit, spreadRows } from './distributions'
import { distributionFigure } from './figures'
import type { Place } from './measures'
import { RunsTable } from './RunsTable'
import classes from './statistics.module.css'

const REACH = [0, 100] as const
const HEIGHT = 260

interface DistributionPanelProps {
  sides: readonly LabelledValues[]
  place: Pick<Place, 'metric' | 'phase'>
  source: Source
}

/** One quantity of every run: dots with boxes, and the cumulative shares. */
export function DistributionPanel({ sides, place, source }: DistributionPanelProps) {
  const { metric, phase } = place
  const [picked, setPicked] = useState<string | null>(null)
  const shown = useMemo(() => distributionOf(spreadRows(sides, metric.factor)), [sides, metric.factor])
  const { rows, from, to, x, curves } = shown
  const title = `${metric.title}, ${phaseTitle(phase).toLowerCase()}`
  const height = spreadHeight(rows.length, SCREEN)
  const shared = { x, curves, from, to, factor: 1 }
  const figure = () => distributionFigure(place, rows, source)
  return (
    <Panel
      title={`${title}: every run`}
      description={`A dot is a run. From five runs on a box has the middle half of them and their median, its whiskers go to the last run within 1.5 of its length.${
        hasOpen(rows) ? ' Open circles: it did not happen while the run was watched.' : ''
      }`}
      isFlush
    >
      {rows.every(({ dots }) => dots.length === 0) ? (
        <Empty title="No run has this value">Choose another metric or phase above.</Empty>
      ) : (
        <div className={classes.charts}>
          <Frame title="Single runs" unit={metric.unit} height={height} table={() => <RunsTable {...{ sides, metric }} />} figure={figure}>
            {(width) => <SpreadChart {...{ rows, from, to, width, picked }} />}
          </Frame>
          <SeriesNames series={curves} onPick={setPicked} />
          <CursorProvider>
            <CursorSlider from={from} to={to} unit={metric.unit} step={cursorStep(from, to)} />
            <Frame
              title="Cumulative distribution"
              unit={shareUnit(metric)}
              height={HEIGHT}
              table={() => <CurveTable caption={`${title}: ${shareUnit(metric)}`} xLabel={metric.unit || metric.title} {...shared} />}
              figure={figure}
            >
              {(width) => <CurveChart {...shared} {...{ width, picked }} height={HEIGHT} reach={REACH} hasTimeAxis isStepped />}
            </Frame>
          </CursorProvider>
          <Text size="xs" c="dimmed" ta="center" pb="sm">
            {title}
            {metric.unit ? `, ${metric.unit}` : ''}
          </Text>
        </div>
      )}
    </Panel>
  )
}
