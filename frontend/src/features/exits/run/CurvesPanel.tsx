import { Text } from '@mantine/core'
import { useMemo } from 'react'
import type { FlowExits, Run } from '@/api/types'
import type { Window } from '@/charts/axes'
import { CursorSlider } from '@/charts/CursorSlider'
import { CurveChart, cursorStep } from '@/charts/CurveChart'
import { CurveTable } from '@/charts/CurveTable'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import type { Figure } from '@/charts/figure'
import { MarkStrip } from '@/charts/MarkStrip'
import type { Mark } from '@/charts/marks'
import { Panel } from '@/ui/Panel'
import { DetectorToggles } from '../DetectorToggles'
import { isShown, switched } from '../detectors'
import { useRunExits } from '../queries'
import type { RunExitsSearch } from '../search'
import { flowMarks, flowWindows, judgedOf, padded, type Span, slowStartSpan, wholeSpan } from './exits'
import classes from './exits.module.css'
import { curvesFigure } from './figures'
import { type CurvePlot, flowPlots } from './plots'
import { Readout } from './Readout'
import { SpanControl } from './SpanControl'

interface CurvesPanelProps {
  run: Run
  flow: FlowExits
  search: RunExitsSearch
  onSearch: (change: RunExitsSearch) => void
}

/** What SEARCH compares, what the sender saw, and where each detector stands in it. */
export function CurvesPanel({ run, flow, search, onSearch }: CurvesPanelProps) {
  const span = shownSpan(flow, search)
  const { data } = useRunExits(run.id, padded(span, flow.curves?.bin_us ?? 0))
  const drawn = data?.flows.find((one) => one.flow === flow.flow) ?? flow
  const marks = useMemo(() => flowMarks(flow, search.detectors), [flow, search.detectors])
  const looks = useMemo(() => judgedOf(flow).map(({ look }) => look), [flow])
  const keys = looks.map(({ key }) => key)
  return (
    <Panel
      title="Curves"
      description="Vertical lines are the exits. Flag, letters and dash differ for each detector; the table below lists them."
      isFlush
    >
      <div className={classes.controls}>
        <SpanControl span={span} hasSlowStart={slowStartSpan(flow) !== null} search={search} onSearch={onSearch} />
        <DetectorToggles
          looks={looks.filter((_, place) => flow.verdicts[place]?.is_decidable)}
          isOn={(key) => isShown(key, search.detectors)}
          onToggle={(key) => onSearch({ detectors: switched(key, search.detectors, keys) })}
        />
      </div>
      <Charts run={run} flow={drawn} marks={marks} span={span} onZoom={(from_s, to_s) => onSearch({ from_s, to_s })} />
    </Panel>
  )
}

/** The stretch that the address asks for, else slow start, else the whole trace. */
function shownSpan(flow: FlowExits, { range, from_s, to_s }: RunExitsSearch): Span {
  const whole = wholeSpan(flow)
  const usual = (range === 'all' ? null : slowStartSpan(flow)) ?? whole
  const asked = { from_s: from_s ?? usual.from_s, to_s: to_s ?? usual.to_s }
  return asked.from_s < asked.to_s ? asked : usual
}

interface ChartsProps {
  run: Run
  flow: FlowExits
  marks: Mark[]
  span: Span
  onZoom: (from_s: number, to_s: number) => void
}

function Charts({ run, flow, marks, span: { from_s: from, to_s: to }, onZoom }: ChartsProps) {
  const plots = useMemo(() => flowPlots(flow), [flow])
  const windows = useMemo(() => flowWindows(flow), [flow])
  return (
    <CursorProvider>
      <div className={classes.strip}>
        <Readout plots={plots} />
        <div className={classes.stack}>
          <MarkStrip marks={marks} from={from} to={to} />
        </div>
      </div>
      <div className={classes.stack}>
        <CursorSlider from={from} to={to} unit="s" step={cursorStep(from, to)} />
        {flow.curves ? null : (
          <Text size="sm" px="sm" pb="xs">
            No SEARCH curves: the samples are too coarse for its bins, or lack the bytes sent.
          </Text>
        )}
        {plots.map((plot, index) => (
          <Plot
            key={plot.title}
            {...{ plot, from, to, marks, windows, onZoom }}
            figure={() => curvesFigure(run, flow.flow, plot, { from, to, windows, marks })}
            isFirst={index === 0}
            isLast={index === plots.length - 1}
          />
        ))}
        <Text size="xs" c="dimmed" ta="center" pb="sm">
          Seconds since the flow's first data byte · drag over a chart to zoom
        </Text>
      </div>
    </CursorProvider>
  )
}

interface PlotProps {
  figure: () => Figure
  plot: CurvePlot
  from: number
  to: number
  marks: Mark[]
  windows: Window[]
  onZoom: (from_s: number, to_s: number) => void
  isFirst: boolean
  isLast: boolean
}

function Plot({ figure, plot, from, to, marks, windows, onZoom, isFirst, isLast }: PlotProps) {
  const { title, unit, note, x, curves, factor, levels, reach } = plot
  const height = plot.height + (isLast ? 24 : 0)
  const shared = { x, curves, factor, from, to }
  return (
    <Frame
      title={title}
      unit={unit}
      note={note}
      height={height}
      table={() => <CurveTable caption={`${title}, ${unit}`} xLabel="s" {...shared} />}
      figure={figure}
    >
      {(width) => (
        <CurveChart
          {...shared}
          {...{ width, height, levels, reach, windows, marks, onZoom }}
          hasTimeAxis={isLast}
          areWindowsNamed={isFirst}
        />
      )}
    </Frame>
  )
}
