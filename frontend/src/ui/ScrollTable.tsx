import { Table, type TableProps, Text, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import classes from './ui.module.css'

interface ScrollTableProps extends TableProps {
  label: string
  /** One for each column, and the children are rows; without heads the children are the whole table. An empty one is over buttons. */
  heads?: readonly string[]
  children: ReactNode
}

/** A table of numbers: wider than its place it scrolls inside it, reachable by keyboard, with a label that tells it. */
export function ScrollTable({ label, heads, children, ...table }: ScrollTableProps) {
  const place = useRef<HTMLDivElement>(null)
  const [goesOn, setGoesOn] = useState(false)
  useEffect(() => {
    const own = place.current
    if (!own) return
    const watch = new ResizeObserver(() => setGoesOn(own.scrollWidth > own.clientWidth + 1))
    watch.observe(own)
    for (const child of own.children) watch.observe(child)
    return () => watch.disconnect()
  }, [])
  return (
    <>
      {goesOn ? (
        <Text size="xs" c="dimmed" ta="right" px="md" pb={4} className={classes.hint}>
          More columns are to the right: scroll sideways →
        </Text>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <div role="group" ref={place} className={classes.scroll} aria-label={label} tabIndex={0}>
        <Table verticalSpacing={7} horizontalSpacing="md" fz="sm" className={classes.table} {...table}>
          {heads ? <Heads heads={heads} /> : null}
          {heads ? <Table.Tbody role="rowgroup">{children}</Table.Tbody> : children}
        </Table>
      </div>
    </>
  )
}

function Heads({ heads }: { heads: readonly string[] }) {
  return (
    <Table.Thead role="rowgroup">
      <Table.Tr role="row">
        {heads.map((head) => (
          <Table.Th key={head} scope="col" role="columnheader">
            {head || <VisuallyHidden>Actions</VisuallyHidden>}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  )
}
