import { Group, Text, UnstyledButton } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type ReactNode, useId, useState } from 'react'
import classes from './charts.module.css'
import type { SaveMenuProps } from './SaveChoices'
import { SaveMenu } from './SaveMenu'

export interface FrameProps {
  title: string
  unit: string
  /** A word on what is drawn besides the series, for example the nominal rate. */
  note?: string | undefined
  height: number
  /** Draws the chart at the measured width. */
  children: (width: number) => ReactNode
  /** The numbers behind the chart; made only when asked for. */
  table: () => ReactNode
  /** What is taken away of it. */
  figure?: SaveMenuProps['figure'] | undefined
}

/** A titled figure with the numbers behind it one click away. */
export function Frame({ title, unit, note, height, children, table, figure }: FrameProps) {
  const { ref, width } = useElementSize()
  const [isTableOpen, setTableOpen] = useState(false)
  const tableId = useId()
  return (
    <figure className={classes.figure}>
      <Group component="figcaption" justify="space-between" wrap="nowrap" gap="xs" className={classes.caption}>
        <Text size="sm" fw={600} component="span">
          {title}
          <span className={classes.unit}> {unit}</span>
          {note ? <span className={classes.note}>{note}</span> : null}
        </Text>
        <Group gap={0} wrap="nowrap">
          <UnstyledButton
            className={classes.tableButton}
            aria-expanded={isTableOpen}
            aria-controls={tableId}
            aria-label={`${isTableOpen ? 'Hide' : 'Show'} the numbers behind ${title}`}
            onClick={() => setTableOpen((open) => !open)}
          >
            {isTableOpen ? 'Hide numbers' : 'Numbers'}
          </UnstyledButton>
          {figure ? <SaveMenu what={title} figure={figure} /> : null}
        </Group>
      </Group>
      <div ref={ref} style={{ height }} className={classes.canvas}>
        {width > 0 ? children(width) : null}
      </div>
      <div id={tableId}>{isTableOpen ? table() : null}</div>
    </figure>
  )
}
