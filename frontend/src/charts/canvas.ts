import type { Scene, Shape } from './scene'
import { PAPER_FONT, paperColor } from './svg'
import { textWidth } from './textWidth'

type Brush = Pick<
  CanvasRenderingContext2D,
  | 'save'
  | 'restore'
  | 'clip'
  | 'fill'
  | 'stroke'
  | 'fillText'
  | 'setLineDash'
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'globalAlpha'
  | 'font'
  | 'textAlign'
>
const ALIGN = { start: 'left', middle: 'center', end: 'right' } as const
/** A font that stands in for Helvetica may be this much wider; more is pressed together. */
const SLACK = 1.06

/** Draws a scene's shapes. */
export function paint(brush: Brush, shapes: readonly Shape[]): void {
  for (const shape of shapes) {
    brush.save()
    if (shape.is === 'clip') {
      brush.clip(new Path2D(shape.d))
      paint(brush, shape.shapes)
    } else if (shape.is === 'text') {
      brush.font = `${shape.isBold ? 'bold ' : ''}${shape.size}px ${PAPER_FONT}`
      brush.textAlign = ALIGN[shape.anchor ?? 'start']
      brush.fillStyle = paperColor(shape.fill)
      brush.fillText(shape.text, shape.x, shape.y, textWidth(shape.text, shape.size, shape.isBold) * SLACK)
    } else {
      const path = new Path2D(shape.is === 'path' ? shape.d : undefined)
      if (shape.is === 'dot') path.arc(shape.x, shape.y, shape.r, 0, 2 * Math.PI)
      brush.globalAlpha = shape.opacity ?? 1
      brush.setLineDash(shape.dash?.split(' ').map(Number) ?? [])
      if (shape.fill) {
        brush.fillStyle = paperColor(shape.fill)
        brush.fill(path)
      }
      if (shape.stroke) {
        brush.strokeStyle = paperColor(shape.stroke)
        brush.lineWidth = shape.width ?? 1
        brush.stroke(path)
      }
    }
    brush.restore()
  }
}

/** A scene in points as a PNG with this many pixels to a point. */
export async function pngOf({ width, height, shapes }: Scene, scale: number): Promise<Blob> {
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  const brush = canvas.getContext('2d')
  if (!brush) throw new Error('This browser cannot create PNG pictures; use SVG.')
  brush.fillStyle = '#ffffff'
  brush.fillRect(0, 0, canvas.width, canvas.height)
  brush.scale(scale, scale)
  paint(brush, shapes)
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture is too large for this browser; use SVG.'))), 'image/png'),
  )
}
