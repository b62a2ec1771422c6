import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Nothing here yet: says what would be here and what to do next. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap={6} py={40} px="md" ta="center">
      <Text fw={600}>{title}</Text>
      {children ? (
        <Text size="sm" c="dimmed" maw={520} component="div">
          {children}
        </Text>
      ) : null}
      {action ? <div style={{ marginTop: 8 }}>{action}</div> : null}
    </Stack>
  )
}
