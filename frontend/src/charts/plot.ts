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
/** How both axes of every chart are drawn. */
export const AXIS = { stroke: 'var(--chart-axis)', tick: { fill: 'var(--chart-text)', fontSize: 11 }, tickLine: false } as const

/** What the names of shaded stretches take above the plot, where no line crosses them. */
export const NAMES_HEIGHT = 12

export function plotOf(width: number, height: number, hasTimeAxis: boolean, hasNames = false): Plot {
  const top = MARGIN.top + (hasNames ? NAMES_HEIGHT : 0)
  return {
    left: VALUE_AXIS_WIDTH,
    top,
    width: Math.max(0, width - VALUE_AXIS_WIDTH - MARGIN.right),
    height: Math.max(0, height - top - MARGIN.bottom - (hasTimeAxis ? TIME_AXIS_HEIGHT : 0)),
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
