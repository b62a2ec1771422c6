import { CartesianGrid, ReferenceArea, XAxis, YAxis } from 'recharts'
import { writtenOut } from '@/lib/format'
import type { Window } from './axes'
import { SCREEN, TIME_AXIS_HEIGHT, VALUE_AXIS_WIDTH } from './plot'
import type { Scale } from './ticks'

const AXIS = { stroke: 'var(--chart-axis)', tick: { fill: 'var(--chart-text)', fontSize: SCREEN.font }, tickLine: false } as const
const WINDOW_LABEL = { position: 'top', offset: 3, fontSize: SCREEN.nameFont, fill: 'var(--chart-text)' } as const

/** The windows behind the lines, named above the plot where `areNamed`. */
export function windowAreas(windows: readonly Window[], from: number, to: number, areNamed: boolean | undefined) {
  return windows
    .filter((window) => window.from < to && window.to > from)
    .map((window, index) => (
      <ReferenceArea
        key={window.label}
        x1={Math.max(window.from, from)}
        x2={Math.min(window.to, to)}
        fill={`var(--chart-window-${index % 2})`}
        fillOpacity={1}
        ifOverflow="hidden"
        label={areNamed ? { value: window.label, ...WINDOW_LABEL } : undefined}
      />
    ))
}

interface AxesFacts {
  from: number
  to: number
  ticks: number[]
  scale: Scale
  hasTimeAxis: boolean
  /** What a tick of the x axis says; else its number. */
  tickText?: ((x: number) => string) | undefined
}

/** Grid and both axes of a chart over a numeric x, with the ticks that saved figures have. */
export function axes({ from, to, ticks, scale, hasTimeAxis, tickText }: AxesFacts) {
  return [
    <CartesianGrid key="grid" vertical={false} stroke="var(--chart-grid)" />,
    <XAxis
      key="x"
      dataKey="x"
      type="number"
      domain={[from, to]}
      allowDataOverflow
      niceTicks="none"
      ticks={ticks}
      interval={0}
      height={hasTimeAxis ? TIME_AXIS_HEIGHT : 1}
      tickFormatter={hasTimeAxis ? tickText : () => ''}
      {...AXIS}
    />,
    <YAxis
      key="y"
      domain={[scale.min, scale.max]}
      allowDataOverflow
      niceTicks="none"
      ticks={scale.ticks}
      interval={0}
      width={VALUE_AXIS_WIDTH}
      tickFormatter={(value: number) => writtenOut(value, scale.decimals)}
      {...AXIS}
      axisLine={false}
    />,
  ]
}
