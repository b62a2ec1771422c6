import { createContext, useContext } from 'react'
import type { PlacedProblem } from '@/api/problem'
import { type Path, placeOf, valueAt } from './document'
import type { Known } from './known'
import { type Shape, shapeAt } from './schema'

/** What the form shows and how it changes it. */
export interface DraftView {
  data: Record<string, unknown>
  schema: Shape
  known: Known
  /** What is wrong, by place: of the file, and of its plan. */
  problems: readonly PlacedProblem[]
  edit: (path: Path, value: unknown) => void
  editAll: (changes: readonly (readonly [Path, unknown])[]) => void
  editList: (path: Path, items: readonly unknown[]) => void
}

const Context = createContext<DraftView | null>(null)
export const DraftProvider = Context.Provider

export function useDraft(): DraftView {
  const view = useContext(Context)
  if (!view) throw new Error('a field of the form stands outside of it')
  return view
}

/** One key of the file: its value, which values it allows, and what is wrong with it. */
export function useField(path: Path) {
  const { data, schema, edit, problems } = useDraft()
  const place = placeOf(path)
  const messages = problems.filter((one) => one.place === place).map(({ message }) => message)
  return {
    value: valueAt(data, path),
    shape: shapeAt(schema, path),
    error: messages.length > 0 ? messages.join(' ') : undefined,
    set: (value: unknown) => edit(path, value),
  }
}
