import { useEffect, useState } from 'react'

/** The time now, refreshed every `every_ms`: for "40 s ago" and for estimates of what is left. */
export function useNow(every_ms = 5000): number {
  const [now_ms, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every_ms)
    return () => clearInterval(timer)
  }, [every_ms])
  return now_ms
}
