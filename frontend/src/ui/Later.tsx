import { type ReactNode, startTransition, useEffect, useState } from 'react'

let isWarm = false

/**
 * What lies below the first screen. In a page that has just been loaded it is drawn once what lies above is there, so that a
 * reader need not wait for it. Later pages have it at once: a way back finds its place.
 */
export function Later({ children }: { children: ReactNode }) {
  const [isDue, setIsDue] = useState(isWarm)
  useEffect(() => {
    const timer = setTimeout(() => {
      isWarm = true
      startTransition(() => setIsDue(true))
    })
    return () => clearTimeout(timer)
  }, [])
  return isDue ? children : null
}
