import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './campaigns.module.css'
import { useFirstSteps } from './queries'

const ENDS = 2

/** What an installation needs before its first campaign, and how far it is. isTried: there are quick tests. */
export function FirstSteps({ isTried = false }: { isTried?: boolean }) {
  const { agents, links } = useFirstSteps()
  return (
    <ol className={classes.steps} aria-label="First steps">
      <Step isDone title="An account">
        You are signed in.
      </Step>
      <Step isDone={(agents ?? 0) >= ENDS} title="An agent at each end">
        <Link to="/agents">Agents</Link>: one behind the terminal, one on a server. “Add agent” has the program, with its checksum.
        {agents ? ` ${agents} so far.` : ''}
      </Step>
      <Step isDone={(links ?? 0) > 0} title="A link between them">
        <Link to="/links">Links</Link>: its rate, its round-trip time, and the agents at its ends.
      </Step>
      <Step isDone={isTried} title="A quick test">
        “Quick test” on the page of <Link to="/links">links</Link> downloads for 15 s, and shows whether all of it works.
      </Step>
      <Step isDone={false} title="A campaign">
        Begin with a template: the preview says what it would do before anything is sent.
      </Step>
    </ol>
  )
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li>
      <Text span fw={550}>
        {title}
        {isDone ? ' ✓ done' : ''}
      </Text>
      <Text size="sm" c="dimmed" component="div">
        {children}
      </Text>
    </li>
  )
}
