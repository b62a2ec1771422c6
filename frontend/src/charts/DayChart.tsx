import { ComposedChart, ReferenceArea, ReferenceLine, Scatter } from 'recharts'
import classes from './charts.module.css'
import { tickText } from './clock'
import { type DayBox, type DayLine, type DayPoint, dayPlot, dayScale, dayTicks, dotSize } from './dayShapes'
import { glyphOf, glyphShape } from './glyphs'
import { seriesStyle } from './palette'
import { type Look, MARGIN, SCREEN } from './plot'
import { axes } from './rechartsAxes'
import type { Shape } from './scene'

/** Every run's value over clock time, nights shaded. What stands under the pointer is found by who draws it. */
export function DayChart(facts: Omit<DayBox, 'look'>) {
  const box = { ...facts, look: SCREEN }
  const { width, height, lines, factor, from, to, nights, notes, hasTimeAxis } = box
  const plot = dayPlot(box)
  const scale = dayScale(box, plot)
  const r = dotSize(lines, plot, SCREEN)
  return (
    <ComposedChart
      {...{ width, height }}
      margin={{ ...MARGIN, top: plot.top, left: 0 }}
      accessibilityLayer={false}
      className={classes.chart}
    >
      {nights.map((night) => (
        <ReferenceArea
          key={night.from}
          x1={Math.max(night.from, from)}
          x2={Math.min(night.to, to)}
          fill="var(--chart-night)"
          fillOpacity={1}
          ifOverflow="hidden"
        />
      ))}
      {notes
        .filter((note) => note.to !== null)
        .map((note) => (
          <ReferenceArea
            key={`area-${note.number}`}
            x1={Math.max(note.from, from)}
            x2={Math.min(note.to ?? to, to)}
            fill="var(--chart-note)"
            fillOpacity={0.5}
            ifOverflow="hidden"
          />
        ))}
      {axes({ from, to, ticks: dayTicks(box, plot), scale, hasTimeAxis, tickText })}
      {notes.map((note) => (
        <ReferenceLine
          key={`note-${note.number}`}
          x={Math.max(note.from, from)}
          stroke="var(--chart-level)"
          strokeDasharray="2 2"
          label={
            box.areNotesNamed
              ? {
                  value: String(note.number),
                  position: 'top',
                  offset: 2,
                  fontSize: SCREEN.nameFont,
                  fontWeight: 600,
                  fill: 'var(--chart-ink)',
                }
              : undefined
          }
        />
      ))}
      {lines.flatMap((one) => one.stretches.map((points, index) => stretch(one, points, index, factor, r, SCREEN)))}
    </ComposedChart>
  )
}

/** Runs that follow each other, joined by a thin line. */
function stretch({ id, style }: DayLine, points: readonly DayPoint[], index: number, factor: number, r: number, look: Look) {
  const { color, dash } = seriesStyle(style)
  return (
    <Scatter
      key={`${id}-${index}`}
      data={points.map((point) => ({ x: point.x, y: point.value * factor }))}
      dataKey="y"
      line={points.length > 1 ? { stroke: color, strokeWidth: look.run * 0.8, strokeOpacity: 0.55, strokeDasharray: dash } : false}
      shape={({ cx, cy }: { cx?: number; cy?: number }) =>
        cx === undefined || cy === undefined ? <g /> : sign(glyphShape(glyphOf(style), style, cx, cy, r))
      }
      isAnimationActive={false}
    />
  )
}

function sign(shape: Shape) {
  if (shape.is === 'dot') return <circle cx={shape.x} cy={shape.y} r={shape.r} fill={`var(--${shape.fill})`} />
  return shape.is === 'path' ? (
    <path d={shape.d} fill={shape.fill ? `var(--${shape.fill})` : 'none'} stroke={shape.stroke ? `var(--${shape.stroke})` : 'none'} />
  ) : (
    <g />
  )
}
