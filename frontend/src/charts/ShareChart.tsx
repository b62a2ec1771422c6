import { CursorLayer } from './CursorLayer'
import { useLayerFills } from './layers'
import { MARGIN, pixelOf, plotOf, TIME_AXIS_HEIGHT, VALUE_AXIS_WIDTH } from './plot'
import classes from './stacks.module.css'
import { type Layer, stepAreas } from './stepAreas'
import { timeTicks } from './ticks'

interface ShareChartProps {
  width: number
  height: number
  from: number
  to: number
  /** One-second bins by their begin. */
  x: readonly number[]
  /** Ratios of each bin, from the bottom up. */
  layers: readonly Layer[]
}

const NO_MARKS = () => []

/** What each second was made of: ratios stacked to 100 %, with the cursor of its stack. */
export function ShareChart({ width, height, from, to, x, layers }: ShareChartProps) {
  const { defs, fill } = useLayerFills()
  const plot = plotOf(width, height, true)
  const toX = (value: number) => pixelOf(value, plot, from, to)
  const toY = (share: number) => plot.top + plot.height * (1 - share)
  return (
    <>
      <svg width={width} height={height} className={classes.shares} aria-hidden="true">
        {defs}
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line x1={plot.left} x2={width - MARGIN.right} y1={toY(share)} y2={toY(share)} className={classes.grid} />
            <text x={VALUE_AXIS_WIDTH - 6} y={toY(share) + 4} textAnchor="end">
              {100 * share} %
            </text>
          </g>
        ))}
        {stepAreas(layers, x, toX, toY).map((outline, layer) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a layer is its place in the stack
          <path key={layer} d={outline} fill={fill(layer)} />
        ))}
        {timeTicks(from, to, width < 420 ? 5 : 10).map((tick) => (
          <text key={tick} x={toX(tick)} y={height - TIME_AXIS_HEIGHT + 12} textAnchor="middle">
            {tick}
          </text>
        ))}
      </svg>
      <CursorLayer plot={plot} from={from} to={to} valuesAt={NO_MARKS} top={1} />
    </>
  )
}
