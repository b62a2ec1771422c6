import { Table, type TableProps } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './ui.module.css'

/** A table of numbers: wider than its place it scrolls inside it, reachable by keyboard. */
export function ScrollTable({ label, children, ...table }: TableProps & { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <div role="group" className={classes.scroll} aria-label={label} tabIndex={0}>
      <Table verticalSpacing={7} horizontalSpacing="md" fz="sm" className={classes.table} {...table}>
        {children}
      </Table>
    </div>
  )
}
