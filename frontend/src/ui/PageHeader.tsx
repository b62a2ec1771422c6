import { Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import classes from './ui.module.css'

interface PageHeaderProps {
  title: string
  /** Stands after the title on its line. */
  badges?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** A way back, above the title. */
  trail?: ReactNode
}

export function PageHeader({ title, badges, description, actions, trail }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Downlink`
  }, [title])
  return (
    <header className={classes.pageHeader}>
      <div className={classes.pageHeaderText}>
        {trail ? <div className={classes.trail}>{trail}</div> : null}
        <Group gap="4px 12px">
          <Title order={1}>{title}</Title>
          {badges}
        </Group>
        {description ? (
          <Text c="dimmed" size="sm" mt={4} component="div">
            {description}
          </Text>
        ) : null}
      </div>
      {actions ? <Group gap="xs">{actions}</Group> : null}
    </header>
  )
}
