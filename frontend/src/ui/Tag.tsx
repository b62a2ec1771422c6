import type { ReactNode } from 'react'
import classes from './ui.module.css'

/** A small neutral label. */
export function Tag({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span className={classes.tag} title={title}>
      {children}
    </span>
  )
}
