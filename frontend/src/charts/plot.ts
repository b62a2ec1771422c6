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

export function plotOf(width: number, height: number, hasTimeAxis: boolean): Plot {
  return {
    left: VALUE_AXIS_WIDTH,
    top: MARGIN.top,
    width: Math.max(0, width - VALUE_AXIS_WIDTH - MARGIN.right),
    height: Math.max(0, height - MARGIN.top - MARGIN.bottom - (hasTimeAxis ? TIME_AXIS_HEIGHT : 0)),
  }
}

/** The whole-numbered x of the data under a pointer, or null outside the plot. */
export function xUnderPointer(pointer_px: number, plot: Plot, from: number, to: number): number | null {
  const share = (pointer_px - plot.left) / plot.width
  if (!(share >= 0 && share <= 1)) return null
  return Math.min(Math.floor(to), Math.max(Math.ceil(from), Math.round(from + share * (to - from))))
}

export function pixelOf(x: number, plot: Plot, from: number, to: number): number {
  return plot.left + ((x - from) / (to - from)) * plot.width
}
