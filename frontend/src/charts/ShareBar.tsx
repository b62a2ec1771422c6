import { useLayerFills } from './layers'
import classes from './stacks.module.css'

const HEIGHT = 18

/** Ratios beside each other that make up a whole, for a table cell beside their numbers. */
export function ShareBar({ shares, width = 220 }: { shares: readonly (number | null)[]; width?: number }) {
  const { defs, fill } = useLayerFills()
  const known = shares.map((share) => share ?? 0)
  const start = (layer: number) => known.slice(0, layer).reduce((sum, share) => sum + share, 0)
  return (
    <svg width={width} height={HEIGHT} className={classes.bar} aria-hidden="true">
      {defs}
      {known.map((share, layer) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a layer is its place in the stack
        <rect key={layer} x={start(layer) * width} width={share * width} height={HEIGHT} fill={fill(layer)} />
      ))}
    </svg>
  )
}
