import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { HostAnswer, HostAnswers } from '@/api/types'
import { formatMoment, formatRelative } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { useNow } from '@/ui/useNow'
import classes from './plan.module.css'
import { CHECKS, countText, LEVELS } from './preflight'

/** Starts the quick test that answers a question again. */
export type QuickTestButton = ComponentType<NonNullable<HostAnswer['quick_test']>>

/** What is known of each host before anything is sent; a host with something to say is open. */
export function PreflightPanel({ hosts, quickTest }: { hosts: HostAnswers[]; quickTest: QuickTestButton }) {
  if (hosts.length === 0) return null
  return (
    <Panel title="Pre-flight" description="Last known state of each host. No traffic is sent until you ask for it.">
      <div className={classes.hosts}>
        {hosts.map((host) => (
          <HostCard key={host.agent} host={host} quickTest={quickTest} />
        ))}
      </div>
    </Panel>
  )
}

function HostCard({ host: { agent, parts, answers }, quickTest }: { host: HostAnswers; quickTest: QuickTestButton }) {
  const isOpen = answers.some(({ level }) => level === 'bad' || level === 'note')
  return (
    <details open={isOpen}>
      <summary>
        <strong>{agent}</strong>{' '}
        <Text span size="sm" c="dimmed">
          {parts.join(', ')} · {countText(answers)}
        </Text>
      </summary>
      <ul aria-label={`Pre-flight of ${agent}`}>
        {answers.map((answer) => (
          <Item key={`${answer.check} ${answer.sentence}`} answer={answer} quickTest={quickTest} />
        ))}
      </ul>
    </details>
  )
}

function Item({ answer, quickTest: QuickTest }: { answer: HostAnswer; quickTest: QuickTestButton }) {
  const level = LEVELS[answer.level]
  return (
    <li data-level={answer.level}>
      <span className={classes.sign} aria-hidden="true">
        {level.sign}
      </span>
      <div>
        <Text size="sm">
          <strong>{CHECKS[answer.check]}</strong>
          {level.word ? ` – ${level.word}` : ''}: {answer.sentence} {answer.todo}
        </Text>
        {answer.run_id ? <Source runId={answer.run_id} at={answer.at} /> : null}
        {answer.quick_test ? <QuickTest {...answer.quick_test} /> : null}
      </div>
    </li>
  )
}

function Source({ runId, at }: { runId: string; at: string | null }) {
  const now_ms = useNow()
  return (
    <Text size="xs" c="dimmed">
      <Link to="/runs/$runId" params={{ runId }}>
        That run
      </Link>{' '}
      <span title={formatMoment(at)}>began {formatRelative(at, now_ms)}</span>
    </Text>
  )
}
