import { Text } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useMemo, useState } from 'react'
import type { DayRun } from '@/api/types'
import { momentText, secondsOf } from '@/charts/clock'
import { DayChart } from '@/charts/DayChart'
import { Drawing } from '@/charts/Drawing'
import { type DayBox, dayPlot, dayScale, markY, type RowsBox, rowsHeight, rowsShapes } from '@/charts/dayShapes'
import { Frame } from '@/charts/Frame'
import type { Figure } from '@/charts/figure'
import { GlyphKey } from '@/charts/GlyphKey'
import { pixelOf, plotOf, SCREEN } from '@/charts/plot'
import { RunFinder, type RunPlace } from '@/charts/RunFinder'
import { formatNumber } from '@/lib/format'
import { runStateText } from '@/lib/states'
import { DayTable } from './DayTable'
import type { DayMetric, Strip } from './day'
import classes from './days.module.css'
import { stripBoxes } from './figures'

const TOGETHER_PX = 240
const EACH_PX = 92
/** Of many plots each is lower, so that a screen holds them. */
const LOW_PX = 62
const MANY = 8
const NAME_PX = 18

interface DayStripProps {
  strip: Strip
  metric: DayMetric
  figure: () => Figure
}

/** One link's runs over clock time. A click opens a run; by keyboard the slider goes from run to run, and Enter opens. */
export function DayStrip({ strip, metric, figure }: DayStripProps) {
  const navigate = useNavigate()
  const [picked, setPicked] = useState<string | null>(null)
  const boxes = useMemo(() => stripBoxes(strip, metric.factor), [strip, metric])
  const open = (runId: string) => void navigate({ to: '/runs/$runId', params: { runId } })
  const plotHeight = boxes.plots.length > MANY ? LOW_PX : boxes.plots.length > 1 ? EACH_PX : TOGETHER_PX
  const nameHeight = boxes.plots.length > 1 ? NAME_PX : 0
  const rowHeight = boxes.rows ? rowsHeight(boxes.rows.rows.length, SCREEN) : 0
  const heights = boxes.plots.map(({ hasTimeAxis }) => plotHeight + (hasTimeAxis ? SCREEN.timeAxis : 0))
  const height = heights.reduce((sum, own) => sum + own + nameHeight, rowHeight)
  const finder = { picked, onPick: setPicked, onOpen: open }
  return (
    <>
      <Legend strip={strip} />
      <Frame
        title={metric.title}
        unit={metric.unit}
        height={height}
        table={() => <DayTable strip={strip} metric={metric} />}
        figure={figure}
      >
        {(width) => (
          <>
            {boxes.plots.map(({ title, ...plot }, index) => (
              <div key={title}>
                {title ? <div className={classes.name}>{title}</div> : null}
                <Plot box={{ ...plot, width, height: heights[index] ?? plotHeight }} {...finder} />
              </div>
            ))}
            {boxes.rows ? <Rows box={{ ...boxes.rows, width, look: SCREEN }} {...finder} /> : null}
          </>
        )}
      </Frame>
      <RunSlider runs={strip.runs} {...{ picked, metric }} onPick={setPicked} onOpen={open} />
    </>
  )
}

/** Names beside their signs, with the number of runs; where each has its own plot, the plot has the name. */
function Legend({ strip }: { strip: Strip }) {
  if (strip.plots.length > 1) return null
  return (
    <ul className={classes.legend}>
      {strip.counts.map(({ label, style, n }) => (
        <li key={label}>
          <GlyphKey style={style} />
          {label} <span className={classes.dim}>n = {n}</span>
        </li>
      ))}
      {strip.nights.length > 0 ? (
        <li>
          <span className={classes.night} aria-hidden="true" />
          night in {strip.zone}
        </li>
      ) : null}
    </ul>
  )
}

type Finder = Omit<Parameters<typeof RunFinder>[0], 'places'>

function Plot({ box, ...finder }: { box: Omit<DayBox, 'look'> } & Finder) {
  const places = useMemo(() => placesOf({ ...box, look: SCREEN }), [box])
  return (
    <div className={classes.plot} style={{ height: box.height }}>
      <DayChart {...box} />
      <RunFinder places={places} {...finder} />
    </div>
  )
}

function placesOf(box: DayBox): RunPlace[] {
  const plot = dayPlot(box)
  const { max } = dayScale(box, plot)
  return box.lines.flatMap(({ stretches }) =>
    stretches.flat().map(({ id, x, value }) => ({
      id,
      left: pixelOf(x, plot, box.from, box.to),
      top: plot.top + plot.height * (1 - (value * box.factor) / max),
    })),
  )
}

function Rows({ box, ...finder }: { box: RowsBox } & Finder) {
  const height = rowsHeight(box.rows.length, SCREEN)
  const plot = plotOf(box.width, height, true)
  const places = box.rows.flatMap(({ marks }, row) =>
    marks.map(({ id, x }) => ({ id, left: pixelOf(x, plot, box.from, box.to), top: markY(row, SCREEN) })),
  )
  return (
    <div className={classes.plot} style={{ height }}>
      <Drawing width={box.width} height={height} shapes={rowsShapes(box)} />
      <RunFinder places={places} {...finder} />
    </div>
  )
}

interface RunSliderProps {
  runs: readonly DayRun[]
  picked: string | null
  metric: DayMetric
  onPick: (id: string) => void
  onOpen: (id: string) => void
}

/** The runs one after the other, by keyboard and touch, and what is known of the one that is picked. */
function RunSlider({ runs, picked, metric, onPick, onOpen }: RunSliderProps) {
  const index = runs.findIndex(({ id }) => id === picked)
  const run = runs[index]
  const pick = (next: number) => {
    const found = runs[next]
    if (found) onPick(found.id)
  }
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !run) return
    event.preventDefault()
    onOpen(run.id)
  }
  return (
    <div className={classes.reader}>
      <input
        type="range"
        min={0}
        max={Math.max(0, runs.length - 1)}
        value={Math.max(0, index)}
        aria-label="Run"
        aria-valuetext={run ? `${runText(run, metric)}. Enter opens it.` : 'none'}
        onChange={(event) => pick(Number(event.currentTarget.value))}
        onKeyDown={press}
      />
      {/* Two lines of room, so that nothing jumps while the pointer moves. */}
      <Text size="sm" className={classes.reading} component="div">
        {run ? (
          <>
            <Link to="/runs/$runId" params={{ runId: run.id }}>
              {run.condition}, cycle {run.cycle}
              {run.attempt > 1 ? `, attempt ${run.attempt}` : ''}
            </Link>
            {`: ${restText(run, metric)}`}
          </>
        ) : (
          <span className={classes.dim}>Point at a run, or move the slider. A click or Enter opens the run.</span>
        )}
      </Text>
    </div>
  )
}

function valueText(run: DayRun, { factor, unit }: DayMetric): string {
  const several = run.values.length > 1
  return run.values.map(({ flow, value }) => `${several ? `flow ${flow}: ` : ''}${formatNumber(value * factor)} ${unit}`).join(', ')
}

const restText = (run: DayRun, metric: DayMetric): string =>
  [
    `${momentText(secondsOf(run.at))} UTC`,
    run.state === 'complete' ? null : runStateText(run),
    valueText(run, metric),
    run.detail ?? run.reason,
  ]
    .filter(Boolean)
    .join(', ')

const runText = (run: DayRun, metric: DayMetric): string => `${run.condition}, cycle ${run.cycle}: ${restText(run, metric)}`
