import { CartesianGrid, ReferenceArea, type ReferenceAreaProps, XAxis, YAxis } from 'recharts'
import { AXIS, TIME_AXIS_HEIGHT, VALUE_AXIS_WIDTH } from './plot'
import type { Scale } from './ticks'

/** A shaded stretch of the x axis. */
export interface Window {
  from: number
  to: number
  label: string
}

/** The windows behind the lines. labelOf: what names each, where they are named. */
export function windowAreas(
  windows: readonly Window[],
  from: number,
  to: number,
  labelOf: (window: Window) => ReferenceAreaProps['label'] | undefined,
) {
  return windows.map((window, index) => (
    <ReferenceArea
      key={window.label}
      x1={Math.max(window.from, from)}
      x2={Math.min(window.to, to)}
      fill={`var(--chart-window-${index % 2})`}
      fillOpacity={1}
      ifOverflow="hidden"
      label={labelOf(window)}
    />
  ))
}

interface AxesFacts {
  from: number
  to: number
  ticks: number[]
  scale: Scale
  hasTimeAxis: boolean
}

/** Grid and both axes of a chart over a numeric x. */
export function axes({ from, to, ticks, scale, hasTimeAxis }: AxesFacts) {
  return [
    <CartesianGrid key="grid" vertical={false} stroke="var(--chart-grid)" />,
    <XAxis
      key="x"
      dataKey="x"
      type="number"
      domain={[from, to]}
      allowDataOverflow
      ticks={ticks}
      interval={0}
      height={hasTimeAxis ? TIME_AXIS_HEIGHT : 1}
      tickFormatter={hasTimeAxis ? undefined : () => ''}
      {...AXIS}
    />,
    <YAxis
      key="y"
      domain={[scale.min, scale.max]}
      allowDataOverflow
      ticks={scale.ticks}
      interval={0}
      width={VALUE_AXIS_WIDTH}
      tickFormatter={(value: number) => value.toLocaleString('en-GB', { minimumFractionDigits: scale.decimals })}
      {...AXIS}
      axisLine={false}
    />,
  ]
}
