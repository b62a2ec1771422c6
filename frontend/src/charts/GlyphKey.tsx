import { Drawing } from './Drawing'
import { glyphOf, glyphShape } from './glyphs'
import classes from './stacks.module.css'

/** A series' sign, for legends. */
export function GlyphKey({ style }: { style: number }) {
  return (
    <span className={classes.swatch}>
      <Drawing width={12} height={12} shapes={[glyphShape(glyphOf(style), style, 6, 6.5, 3.6)]} />
    </span>
  )
}
