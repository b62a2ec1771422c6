/** What the campaign file's JSON Schema says of a place: help, range, choices. The schema has each shape where it stands. */
import type { Path } from './document'

export interface Shape {
  description?: string
  type?: string | string[]
  minimum?: number
  maximum?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  enum?: string[]
  default?: unknown
  properties?: Record<string, Shape>
  additionalProperties?: Shape | boolean
  items?: Shape
  anyOf?: Shape[]
  required?: string[]
}

/** Of a part that allows several shapes the first, with what is said of the part itself. */
function first(shape: Shape): Shape {
  const { anyOf, ...own } = shape
  return anyOf?.[0] ? { ...anyOf[0], ...own } : shape
}

export function shapeAt(schema: Shape, path: Path): Shape | null {
  let shape: Shape = first(schema)
  for (const part of path) {
    const extra = typeof shape.additionalProperties === 'object' ? shape.additionalProperties : undefined
    const inner = typeof part === 'number' ? shape.items : (shape.properties?.[part] ?? extra)
    if (!inner) return null
    shape = first(inner)
  }
  return shape
}

const number = (value: number) => value.toLocaleString('en-GB')

/** "1 to 86,400", or nothing where there are no bounds. */
export function rangeText(shape: Shape): string {
  const { minimum, maximum } = shape
  return minimum === undefined || maximum === undefined ? '' : `${number(minimum)} to ${number(maximum)}`
}

/** What to say under a field: its meaning and what it takes. */
export function helpText(shape: Shape | null, { range = true } = {}): string {
  if (!shape) return ''
  const bounds = range ? rangeText(shape) : ''
  return [shape.description?.replace(/\.$/, ''), bounds].filter(Boolean).join('; ')
}

/** What stands where nothing is given, for people. */
export function defaultText(shape: Shape | null): string {
  const value = shape?.default
  return typeof value === 'number' || typeof value === 'string' ? String(value) : ''
}

/** A word on a shape beside its name in a list of completions. */
export function kindText(shape: Shape): string {
  if (shape.enum) return shape.enum.join(' | ')
  if (shape.properties || shape.additionalProperties) return 'mapping'
  if (shape.items) return 'list'
  return [Array.isArray(shape.type) ? shape.type.join(' or ') : shape.type, rangeText(shape)].filter(Boolean).join(', ')
}
