import { Group, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './ui.module.css'

interface PanelProps {
  title?: string
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
  /** Content reaches the edges, as for tables and charts. */
  isFlush?: boolean
  id?: string
}

/** A surface with a heading. */
export function Panel({ title, description, actions, children, isFlush = false, id }: PanelProps) {
  return (
    <Paper component="section" className={classes.panel} id={id} aria-label={title}>
      {title ? (
        <Group justify="space-between" align="flex-start" gap="sm" className={classes.panelHead}>
          <div className={classes.panelTitle}>
            <Title order={2}>{title}</Title>
            {description ? (
              <Text size="sm" c="dimmed" mt={2}>
                {description}
              </Text>
            ) : null}
          </div>
          {actions}
        </Group>
      ) : null}
      <div className={isFlush ? classes.panelFlush : classes.panelBody}>{children}</div>
    </Paper>
  )
}
