/** Where data lies inside a chart's box: equal for all charts of a stack, so that their time axes line up. */
export interface Plot {
  left: number
  top: number
  width: number
  height: number
}

export const MARGIN = { top: 8, right: 20, bottom: 4 } as const
export const VALUE_AXIS_WIDTH = 46
export const TIME_AXIS_HEIGHT = 24

/** How large a chart's parts are: in pixels on a page, in points on paper. */
export interface Look {
  /** Of tick labels. */
  font: number
  /** Of names inside the plot. */
  nameFont: number
  valueAxis: number
  timeAxis: number
  /** What the names of shaded stretches take above the plot, where no line crosses them. */
  names: number
  margin: { top: number; right: number; bottom: number }
  mean: number
  run: number
  /** Least room for a tick of the time axis. */
  tickWidth: number
  /** Least room for a tick of the value axis. */
  tickHeight: number
}

export const SCREEN: Look = {
  font: 11,
  nameFont: 10.5,
  valueAxis: VALUE_AXIS_WIDTH,
  timeAxis: TIME_AXIS_HEIGHT,
  names: 12,
  margin: MARGIN,
  mean: 2,
  run: 1,
  tickWidth: 52,
  tickHeight: 17,
}
/** Text of 8 pt, which journals ask for. */
export const PAPER: Look = {
  font: 8,
  nameFont: 8,
  valueAxis: 30,
  timeAxis: 13,
  names: 9,
  margin: { top: 5, right: 8, bottom: 2 },
  mean: 1.2,
  run: 0.5,
  tickWidth: 30,
  tickHeight: 13,
}

export function plotOf(width: number, height: number, hasTimeAxis: boolean, hasNames = false, look = SCREEN): Plot {
  const top = look.margin.top + (hasNames ? look.names : 0)
  return {
    left: look.valueAxis,
    top,
    width: Math.max(0, width - look.valueAxis - look.margin.right),
    height: Math.max(0, height - top - look.margin.bottom - (hasTimeAxis ? look.timeAxis : 0)),
  }
}

/** The multiple of `step` within the axis that is nearest to a pointer, or null outside the plot. */
export function xUnderPointer(pointer_px: number, plot: Plot, from: number, to: number, step = 1): number | null {
  const share = (pointer_px - plot.left) / plot.width
  if (!(share >= 0 && share <= 1)) return null
  const steps = Math.round((from + share * (to - from)) / step)
  return multiple(Math.min(Math.floor(to / step), Math.max(Math.ceil(from / step), steps)), step)
}

/** `count` times a step that is a power of ten, without the digits that binary fractions add. */
function multiple(count: number, step: number): number {
  return Number((count * step).toPrecision(12))
}

export function pixelOf(x: number, plot: Plot, from: number, to: number): number {
  return plot.left + ((x - from) / (to - from)) * plot.width
}
