import { Paper, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import classes from './session.module.css'

/** The frame of the pages before the sign-in. */
export function Door({ title, lead, children }: { title: string; lead: ReactNode; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Downlink`
  }, [title])
  return (
    <main className={classes.door}>
      <div className={classes.brand}>
        <img src="/favicon.svg" alt="" width={34} height={34} />
        <span>Downlink</span>
      </div>
      <Paper className={classes.card}>
        <Title order={1} size="h2">
          {title}
        </Title>
        <Text size="sm" c="dimmed" mt={4} mb="md">
          {lead}
        </Text>
        {children}
      </Paper>
      <Text size="xs" c="dimmed">
        TCP measurements over satellite links
      </Text>
    </main>
  )
}
