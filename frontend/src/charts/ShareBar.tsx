import { Drawing } from './Drawing'
import { layerShapes } from './layerShapes'
import { rectangle } from './scene'
import classes from './stacks.module.css'

const HEIGHT = 18

/** Ratios beside each other that make up a whole, for a table cell beside their numbers. */
export function ShareBar({ shares, width = 220 }: { shares: readonly (number | null)[]; width?: number }) {
  const known = shares.map((share) => share ?? 0)
  const start = (layer: number) => known.slice(0, layer).reduce((sum, share) => sum + share, 0)
  const shapes = known.flatMap((share, layer) => {
    const box = { x: start(layer) * width, y: 0, width: share * width, height: HEIGHT }
    return share > 0 ? layerShapes(rectangle(box.x, box.y, box.width, box.height), box, layer) : []
  })
  return (
    <div className={classes.bar} style={{ width }}>
      <Drawing width={width} height={HEIGHT} shapes={shapes} />
    </div>
  )
}
