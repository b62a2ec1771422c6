import { Fragment, type ReactNode, useId } from 'react'
import classes from './charts.module.css'
import type { Paint, Scene, Shape } from './scene'

const color = (paint: Paint | undefined) => (paint ? `var(--${paint})` : 'none')
/** How much of a series is left while another is picked out. */
export const FADED = 0.15

interface DrawingProps extends Scene {
  /** A series that is picked out by its id. */
  picked?: string | null | undefined
  /** As wide as its place, with words that grow along: a figure for paper on a page. */
  isScaled?: boolean
}

/** A scene on a page, in the page's colours. Its numbers stand in a table. */
export function Drawing({ width, height, shapes, picked = null, isScaled = false }: DrawingProps) {
  const own = useId()
  return (
    <svg
      {...(isScaled ? { viewBox: `0 0 ${width} ${height}`, className: classes.scaled } : { width, height, className: classes.chart })}
      aria-hidden="true"
    >
      {elements(shapes, own, picked)}
    </svg>
  )
}

function elements(shapes: readonly Shape[], prefix: string, picked: string | null): ReactNode {
  return shapes.map((shape, index) => {
    const id = `${prefix}-${index}`
    // A shape is its place in the scene.
    if (shape.is === 'clip')
      return (
        <Fragment key={id}>
          <clipPath id={id}>
            <path d={shape.d} />
          </clipPath>
          <g clipPath={`url(#${id})`}>{elements(shape.shapes, id, picked)}</g>
        </Fragment>
      )
    if (shape.is === 'text')
      return (
        <text
          key={id}
          x={shape.x}
          y={shape.y}
          fill={color(shape.fill)}
          fontSize={shape.size}
          fontWeight={shape.isBold ? 600 : undefined}
          textAnchor={shape.anchor}
        >
          {shape.text}
        </text>
      )
    const opacity = (shape.opacity ?? 1) * (picked !== null && shape.series !== undefined && shape.series !== picked ? FADED : 1)
    const ink = { fill: color(shape.fill), stroke: color(shape.stroke), strokeWidth: shape.width, strokeDasharray: shape.dash, opacity }
    return shape.is === 'dot' ? (
      <circle key={id} cx={shape.x} cy={shape.y} r={shape.r} {...ink} />
    ) : (
      <path key={id} d={shape.d} data-role={shape.role} {...ink} />
    )
  })
}
