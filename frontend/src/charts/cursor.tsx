import { createContext, type ReactNode, useContext, useState, useSyncExternalStore } from 'react'

/** The x under the pointer, shared by the charts of a stack. Outside React state: moving it redraws no chart. */
export interface CursorStore {
  get: () => number | null
  set: (x: number | null) => void
  subscribe: (listener: () => void) => () => void
}

export function createCursorStore(): CursorStore {
  let current: number | null = null
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set: (x) => {
      if (x === current) return
      current = x
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const CursorContext = createContext<CursorStore | null>(null)

export function CursorProvider({ children }: { children: ReactNode }) {
  const [store] = useState(createCursorStore)
  return <CursorContext value={store}>{children}</CursorContext>
}

export function useCursorStore(): CursorStore {
  const store = useContext(CursorContext)
  if (!store) throw new Error('A chart with a cursor needs a CursorProvider around it')
  return store
}

export function useCursor(): number | null {
  const store = useCursorStore()
  return useSyncExternalStore(store.subscribe, store.get)
}
