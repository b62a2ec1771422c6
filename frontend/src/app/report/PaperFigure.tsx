import { Drawing } from '@/charts/Drawing'
import { type Figure, type FigureWidth, figureScene } from '@/charts/figure'
import { SaveMenu } from '@/charts/SaveMenu'
import { partsOf } from './figures'
import classes from './report.module.css'

const WIDTHS: readonly FigureWidth[] = ['double', 'single']

/** A saved figure in the page's colours: as wide as a page of paper, and on a narrow screen as wide as a column. */
export function PaperFigure({ figure, number }: { figure: Figure; number: number }) {
  const parts = partsOf(figure)
  return (
    <figure className={classes.figure} aria-label={`Figure ${number}: ${figure.title}`}>
      <div className={classes.figureHead}>
        <h3>{figure.title}</h3>
        <SaveMenu what={`figure ${number}, ${figure.title}`} figure={() => figure} />
      </div>
      {WIDTHS.map((width) => (
        <div key={width} className={classes[width]}>
          {parts.map((part, index) => (
            // A part is its place in the figure.
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <Drawing key={index} {...figureScene(part, { width, hasCaption: false })} isScaled />
          ))}
        </div>
      ))}
      <figcaption>
        <b>Figure {number}.</b> {figure.caption}
      </figcaption>
    </figure>
  )
}
