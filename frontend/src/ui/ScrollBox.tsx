import type { ReactNode } from 'react'

interface ScrollBoxProps {
  label: string
  /** In pixels; what is longer scrolls. */
  maxHeight?: number
  className?: string | undefined
  children: ReactNode
}

/** A long table in a place of its own height, reachable by keyboard. */
export function ScrollBox({ label, maxHeight = 280, className, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section aria-label={label} tabIndex={0} className={className} style={{ maxHeight, overflow: 'auto', position: 'relative' }}>
      {children}
    </section>
  )
}
