/**
 * A campaign file as its text. The form and the editor are two views of it: a change by the form touches only its own place,
 * so that comments, order and keys that the form does not know stay as they were written.
 */
import { type Document, isCollection, isMap, isNode, isScalar, isSeq, parseDocument, stringify } from 'yaml'

export type Path = readonly (string | number)[]
type Plain = string | number | boolean

/** What the text holds. */
export interface Draft {
  /** The file's data; null when the text cannot be read. */
  data: Record<string, unknown> | null
  /** Why it cannot be read, with the line from 1. */
  fault: { message: string; line: number } | null
}

/** No line is folded, and flow collections have no inner spaces: as the examples are written. */
const STYLE = { lineWidth: 0, flowCollectionPadding: false } as const

const parse = (text: string) => parseDocument(text, { prettyErrors: true })

export function readDraft(text: string): Draft {
  const document = parse(text)
  const [error] = document.errors
  if (error) return { data: null, fault: { message: error.message.split('\n')[0] ?? '', line: error.linePos?.[0].line ?? 1 } }
  const data: unknown = document.toJS({ maxAliasCount: 0 })
  const isMapping = typeof data === 'object' && data !== null && !Array.isArray(data)
  if (isMapping) return { data: data as Record<string, unknown>, fault: null }
  return text.trim() === ''
    ? { data: {}, fault: null }
    : { data: null, fault: { message: 'A campaign is a mapping of keys to values', line: 1 } }
}

/** What is at a place of the data; undefined where there is nothing. */
export function valueAt(data: unknown, path: Path): unknown {
  let found = data
  for (const part of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<string | number, unknown>)[part]
  }
  return found ?? undefined
}

/** The list at a place; empty where there is none. */
export const listAt = (data: unknown, path: Path): unknown[] => {
  const found = valueAt(data, path)
  return Array.isArray(found) ? found : []
}

/** The mapping at a place; empty where there is none. */
export const mappingAt = (data: unknown, path: Path): Record<string, unknown> => {
  const found = valueAt(data, path)
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : {}
}

/** `conditions[1].flows[0].cc`: a place as the server names it. */
export const placeOf = (path: Path) =>
  path.reduce<string>((place, part) => (typeof part === 'number' ? `${place}[${part}]` : place ? `${place}.${part}` : part), '')

/** The text with another value at a place; undefined takes the key away. A text that cannot be read is left as it is. */
export function editAt(text: string, path: Path, value: unknown): string {
  const document = parse(text)
  if (document.errors.length > 0) return text
  if (value === undefined) return removed(document, path) ? String(document.toString(STYLE)) : text
  return replaced(text, document, path, value) ?? inserted(document, path, value)
}

/** Several changes, one after the other. */
export const editAll = (text: string, changes: readonly (readonly [Path, unknown])[]) =>
  changes.reduce((changed, [path, value]) => editAt(changed, path, value), text)

/** The text with another list at a place. Items that stay as they are keep their spelling and their comments. */
export function editList(text: string, path: Path, items: readonly unknown[]): string {
  const document = parse(text)
  const list = document.getIn(path, true)
  if (document.errors.length > 0 || !isSeq(list) || items.length === 0) return editAt(text, path, items)
  const before = list.items.map((node) => ({ node, data: JSON.stringify(isNode(node) ? node.toJSON() : node) }))
  list.items = items.map((item) => {
    const data = JSON.stringify(item)
    const index = before.findIndex((one) => one.data === data)
    if (index >= 0) return before.splice(index, 1)[0]?.node
    const made = document.createNode(item)
    brief(made)
    return made
  })
  if (items.some((item) => typeof item === 'object')) list.flow = list.flow && items.length < 2
  return document.toString(STYLE)
}

const isPlain = (value: unknown): value is Plain => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** A plain value in the place of another: every other character stays. */
function replaced(text: string, document: Document, path: Path, value: unknown): string | null {
  const node = document.getIn(path, true)
  if (!isPlain(value) || !isScalar(node) || node.value === null || !node.range) return null
  const [start, end] = node.range
  const isOneLine = !text.slice(start, end).includes('\n') && !String(value).includes('\n')
  return isOneLine ? text.slice(0, start) + inline(value) + text.slice(end) : null
}

/** As it may be written inside brackets too. */
const inline = (value: Plain) =>
  stringify([value], { ...STYLE, collectionStyle: 'flow' })
    .trim()
    .slice(1, -1)

/** With what is missing around it. A key without a value counts as missing. */
function inserted(document: Document, path: Path, value: unknown): string {
  let length = path.findIndex((_, index) => index > 0 && !isCollection(document.getIn(path.slice(0, index), true)))
  if (length === -1) length = path.length
  const wrapped = path.slice(length).reduceRight<unknown>((inner, part) => (typeof part === 'number' ? [inner] : { [part]: inner }), value)
  const node = document.createNode(wrapped)
  brief(node)
  const place = path.slice(0, length)
  if (document.contents === null) document.contents = document.createNode({}) as never
  document.setIn(place, node)
  return document.toString(STYLE)
}

const BRIEF_CHARS = 110

/** Mappings and lists that fit into a line take one, as people write them. */
function brief(node: unknown): boolean {
  if (isScalar(node)) return !String(node.value).includes('\n')
  if (!isMap(node) && !isSeq(node)) return false
  const fits = isMap(node) ? node.items.map(({ value }) => brief(value)) : node.items.map(brief)
  const isLong = JSON.stringify(node.toJSON()).length > BRIEF_CHARS
  const isListOfMappings = isSeq(node) && node.items.some(isMap) && node.items.length > 1
  node.flow = fits.every(Boolean) && !isLong && !isListOfMappings
  return node.flow
}

/** Takes a place away, and what is around it and empty then: mappings, and a list of nothing but an empty mapping. */
function removed(document: Document, path: Path): boolean {
  if (!document.hasIn(path)) return false
  document.deleteIn(path)
  for (let length = path.length - 1; length > 0; length -= 1) {
    const around = path.slice(0, length)
    const node = document.getIn(around, true)
    if (!isMap(node) || node.items.length > 0) break
    if (typeof around.at(-1) === 'number') {
      const list = document.getIn(around.slice(0, -1), true)
      if (!isSeq(list) || list.items.length > 1) break
      length -= 1
    }
    document.deleteIn(path.slice(0, length))
  }
  return true
}
