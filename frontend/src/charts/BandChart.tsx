import { useMemo } from 'react'
import { readingAt } from './bands'
import { CursorLayer } from './CursorLayer'
import { type BandBox, bandAxis, bandShapes } from './chartShapes'
import { Drawing } from './Drawing'
import { plotOf, SCREEN } from './plot'

export interface BandChartProps extends Omit<BandBox, 'look'> {
  /** A series that is picked out by its id; the others fade. */
  picked?: string | null | undefined
}

/** Mean lines with interval bands, or with the single runs where they are few, over a numeric x axis, with a cursor shared by its stack. */
export function BandChart({ picked, ...facts }: BandChartProps) {
  const { width, height, series, factor, from, to, hasBands, hasTimeAxis, level, limit, beside, windows, areWindowsNamed } = facts
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parts of `facts`
  const shapes = useMemo(
    () => bandShapes({ ...facts, look: SCREEN }),
    [width, height, series, factor, from, to, hasBands, hasTimeAxis, level, limit, beside, windows, areWindowsNamed],
  )
  const plot = plotOf(width, height, hasTimeAxis, areWindowsNamed)
  const { scale } = bandAxis(facts, plot, SCREEN)
  const valuesAt = (x: number) =>
    series.map((one) => {
      const mean = readingAt(one, x)?.mean
      return { id: one.id, style: one.style, value: mean == null ? null : mean * factor }
    })
  return (
    <>
      <Drawing {...{ width, height, shapes, picked }} />
      <CursorLayer plot={plot} {...{ from, to, valuesAt }} top={scale.max} />
    </>
  )
}
