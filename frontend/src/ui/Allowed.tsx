import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMay, type Verb } from '@/api/session'

interface AllowedProps {
  verb: Verb
  /** The account that the thing belongs to. */
  owner?: string | null
  /** What is shown instead; nothing unless given. */
  instead?: string
  children: ReactNode
}

/** A button for those accounts alone that may do what it does: the server would refuse the others. */
export function Allowed({ verb, owner, instead, children }: AllowedProps) {
  if (useMay(verb, owner)) return children
  return instead ? (
    <Text size="sm" c="dimmed">
      {instead}
    </Text>
  ) : null
}
