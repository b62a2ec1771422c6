/** What may be written at a place of a campaign file: keys and values from its schema, names of what there is. */
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, visit } from 'yaml'
import type { Path } from './document'
import { helpText, kindText, type Shape, shapeAt } from './schema'

export interface Suggestion {
  label: string
  /** What is put into the text. */
  apply: string
  kind: 'key' | 'value'
  detail: string
  help: string
}

/** What this installation has: suggested where the schema takes any text. */
export interface KnownNames {
  links: readonly string[]
  controls: readonly string[]
}

const CURSOR = 'zzcursorzz'
const WORD = /[\w.]*$/

type Ancestors = readonly (Node | Pair | { contents?: unknown })[]

/** Suggestions for the word that ends at `position`, and where that word begins. */
export function suggest(
  text: string,
  position: number,
  schema: Shape,
  known: KnownNames,
): { from: number; suggestions: Suggestion[] } | null {
  const from = position - (WORD.exec(text.slice(0, position))?.[0].length ?? 0)
  const found = placeOfCursor(text.slice(0, from) + CURSOR + text.slice(position))
  if (!found) return null
  const shape = shapeAt(schema, found.path)
  if (!shape) return null
  const suggestions = shape.properties ? keysOf(shape, found.present, found.hasColon) : valuesOf(shape, found.path, known)
  return suggestions.length > 0 ? { from, suggestions } : null
}

interface Found {
  /** Of the mapping whose key is being written, or of the value. */
  path: Path
  present: string[]
  hasColon: boolean
}

/** Where the cursor stands in what can be made of the text. */
function placeOfCursor(text: string): Found | null {
  const document = parseDocument(text)
  let found: Found | null = null
  visit(document, {
    Scalar(key, node, ancestors) {
      if (!String(node.value).includes(CURSOR)) return undefined
      const place = pathOf(node, ancestors)
      const owner = ancestors.at(-2)
      const isKey = key === 'key'
      const present = isKey && isMap(owner) ? owner.items.flatMap(({ key: other }) => (isScalar(other) ? [String(other.value)] : [])) : []
      const end = node.range?.[1] ?? 0
      found = { path: isKey ? place.slice(0, -1) : place, present, hasColon: isKey && text[end] === ':' }
      return visit.BREAK
    },
  })
  return found
}

function pathOf(node: Node, ancestors: Ancestors): (string | number)[] {
  const chain = [...ancestors, node]
  return chain.flatMap((parent, index): (string | number)[] => {
    const child = chain[index + 1]
    if (isSeq(parent)) return [parent.items.indexOf(child as never)]
    if (isMap(parent) && child && 'key' in child && isScalar(child.key)) return [String(child.key.value)]
    return []
  })
}

function keysOf(shape: Shape, present: readonly string[], hasColon: boolean): Suggestion[] {
  const required = new Set(shape.required ?? [])
  return Object.entries(shape.properties ?? {})
    .filter(([name]) => !present.includes(name))
    .map(([name]) => {
      const inner = shapeAt(shape, [name]) ?? {}
      const need = required.has(name) ? 'required' : kindText(inner)
      return { label: name, apply: hasColon ? name : `${name}: `, kind: 'key', detail: need, help: helpText(inner) }
    })
}

function valuesOf(shape: Shape, path: Path, known: KnownNames): Suggestion[] {
  const help = helpText(shape)
  const values = shape.enum ?? namesFor(path, known) ?? (typeof shape.default === 'number' ? [String(shape.default)] : [])
  return values.map((value) => ({
    label: value,
    apply: value,
    kind: 'value',
    detail: value === String(shape.default) ? 'default' : '',
    help,
  }))
}

function namesFor(path: Path, known: KnownNames): readonly string[] | null {
  if (path[0] === 'links' && path.length === 2) return known.links
  return path.at(-1) === 'cc' ? known.controls : null
}
