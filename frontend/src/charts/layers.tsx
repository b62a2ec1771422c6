import { Drawing } from './Drawing'
import { layerShapes } from './layerShapes'
import { rectangle } from './scene'
import classes from './stacks.module.css'

/** A layer as the stacks draw it. */
export function LayerSwatch({ layer }: { layer: number }) {
  const box = { x: 0, y: 0, width: 24, height: 14 }
  return (
    <span className={classes.swatch}>
      <Drawing width={24} height={14} shapes={layerShapes(rectangle(0, 0, 24, 14), box, layer)} />
    </span>
  )
}
