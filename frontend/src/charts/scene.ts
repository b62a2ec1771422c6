/**
 * What a chart draws, as plain shapes: a page makes elements of them, a saved figure SVG text or a picture. So what is taken away
 * is what was seen, in every renderer.
 */

/** A colour by the name of its CSS variable, without the dashes; a figure for paper takes the light theme's. */
export type Paint = `series-${number}` | `heat-${string}` | `chart-${string}` | 'surface'

interface Ink {
  fill?: Paint | undefined
  stroke?: Paint | undefined
  width?: number | undefined
  dash?: string | undefined
  opacity?: number | undefined
}

/** What a line is to its chart. */
export type Role = 'mean' | 'run' | 'band' | 'level'

export interface PathShape extends Ink {
  is: 'path'
  d: string
  role?: Role | undefined
  /** Of which series, so that one can be picked out. */
  series?: string | undefined
}

export interface DotShape extends Ink {
  is: 'dot'
  x: number
  y: number
  r: number
  series?: string | undefined
}

export interface TextShape {
  is: 'text'
  /** Of the anchor, and of the base line. */
  x: number
  y: number
  text: string
  size: number
  fill: Paint
  anchor?: 'start' | 'middle' | 'end' | undefined
  isBold?: boolean | undefined
}

/** Shapes of which only what lies inside `d` is seen. */
export interface ClipShape {
  is: 'clip'
  d: string
  shapes: Shape[]
}

export type Shape = PathShape | DotShape | TextShape | ClipShape

export interface Scene {
  width: number
  height: number
  shapes: Shape[]
}

/** A coordinate as it is written: hundredths are finer than any printer. */
export const at = (value: number): number => Math.round(value * 100) / 100

export const rectangle = (x: number, y: number, width: number, height: number): string =>
  `M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}z`

export const line = (x1: number, y1: number, x2: number, y2: number): string => `M${at(x1)} ${at(y1)}L${at(x2)} ${at(y2)}`

type Point = readonly [x: number, y: number] | null

/** One path through the points, broken where there is none. */
export function polyline(points: readonly Point[], isStepped = false): string {
  let path = ''
  let last: Point = null
  for (const point of points) {
    if (point)
      path += last
        ? isStepped
          ? `H${at(point[0])}V${at(point[1])}`
          : `L${at(point[0])} ${at(point[1])}`
        : `M${at(point[0])} ${at(point[1])}`
    last = point
  }
  return path
}

/** What lies between two lines over the same x; where either has no value, nothing. */
export function ribbon(points: readonly (readonly [x: number, low: number, high: number] | null)[]): string {
  const stretches: (readonly [number, number, number])[][] = [[]]
  for (const point of points) {
    if (point) stretches.at(-1)?.push(point)
    else stretches.push([])
  }
  return stretches
    .filter((stretch) => stretch.length > 1)
    .map((stretch) => {
      const there = stretch.map(([x, , high]) => [x, high] as const)
      const back = stretch.map(([x, low]) => [x, low] as const).reverse()
      return `${polyline([...there, ...back])}Z`
    })
    .join('')
}

/** The same shapes elsewhere. */
export function moved(shapes: readonly Shape[], dx: number, dy: number): Shape[] {
  return shapes.map((shape) => {
    switch (shape.is) {
      case 'path':
        return { ...shape, d: movedPath(shape.d, dx, dy) }
      case 'clip':
        return { ...shape, d: movedPath(shape.d, dx, dy), shapes: moved(shape.shapes, dx, dy) }
      default:
        return { ...shape, x: shape.x + dx, y: shape.y + dy }
    }
  })
}

/** Of a path of absolute M, L, H, V and of relative h, v, z. */
function movedPath(d: string, dx: number, dy: number): string {
  return d.replaceAll(/([MLHV])([^MLHVZhvz]*)/g, (_, command: string, rest: string) => {
    const numbers = rest
      .trim()
      .split(/[\s,]+/)
      .map(Number)
    const shift = (value: number, index: number) => at(value + (command === 'V' || (command !== 'H' && index % 2 === 1) ? dy : dx))
    return `${command}${numbers.map(shift).join(' ')}`
  })
}
