import { useMemo } from 'react'
import { CursorLayer } from './CursorLayer'
import { type CurveBox, curveScale, curveShapes } from './chartShapes'
import { valueAt } from './curves'
import { Drawing } from './Drawing'
import { plotOf, SCREEN } from './plot'

export interface CurveChartProps extends Omit<CurveBox, 'look'> {
  /** Called with the stretch that was dragged over with the mouse. */
  onZoom?: ((from: number, to: number) => void) | undefined
}

/** Lines over irregular x, with horizontal levels, shaded windows, vertical marks, and the cursor of its stack. */
export function CurveChart({ onZoom, ...box }: CurveChartProps) {
  const { width, height, x, curves, from, to, factor, hasTimeAxis, isStepped, levels, reach, windows, areWindowsNamed, marks } = box
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parts of `box`
  const [shapes, scale] = useMemo(() => {
    const whole = { ...box, look: SCREEN }
    return [curveShapes(whole), curveScale(whole)]
  }, [width, height, x, curves, from, to, factor, hasTimeAxis, isStepped, levels, reach, windows, areWindowsNamed, marks])
  const plot = plotOf(width, height, hasTimeAxis, areWindowsNamed)
  const valuesAt = (at: number) =>
    curves.map(({ id, style, y }) => {
      const value = valueAt(x, y, at)
      return { id, style, value: value === null ? null : value * factor }
    })
  return (
    <>
      <Drawing {...{ width, height, shapes }} />
      <CursorLayer {...{ plot, from, to, valuesAt }} bottom={scale.min} top={scale.max} step={cursorStep(from, to)} onSpan={onZoom} />
    </>
  )
}

/** How far the cursor moves at least: a power of ten, some hundreds of steps wide. */
export function cursorStep(from: number, to: number): number {
  return 10 ** Math.floor(Math.log10((to - from) / 100))
}
