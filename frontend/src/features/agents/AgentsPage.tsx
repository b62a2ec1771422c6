import { Alert, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Agent } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { formatMoment, formatRelative } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { Empty } from '@/ui/Empty'
import { Facts } from '@/ui/Facts'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { useNow } from '@/ui/useNow'
import { AddAgent } from './AddAgent'
import classes from './agents.module.css'
import { PauseAgent } from './PauseAgent'
import { Programs } from './Programs'
import { useAgents, useRevokeAgent } from './queries'
import { clockText, hostFacts, monthText, pauseText, rolesText, runLimitText, statusState, statusText } from './status'

export function AgentsPage() {
  const agents = useAgents()
  return (
    <>
      <PageHeader
        title="Agents"
        description="One process per host, at either end of a link or on the way. It sends, receives or relays, and restores its host’s settings after every run."
        actions={<AddAgent />}
      />
      <QueryPanel
        query={agents}
        empty={({ items }) =>
          items.length === 0 ? (
            <Panel>
              <Empty title="No agents yet">
                Press “Add agent”, then paste the command on the host behind the terminal, and again on a server on the Internet.
              </Empty>
            </Panel>
          ) : null
        }
      >
        {({ items }) => (
          <div className={classes.agents}>
            {items.map((agent) => (
              <AgentCard key={agent.id} agent={agent} />
            ))}
          </div>
        )}
      </QueryPanel>
      <section aria-label="The agent’s program" className={classes.program}>
        <Text size="sm" c="dimmed">
          The program of this server’s version, one static file. “Add agent” has the commands that fetch it and let a new host join; to
          upgrade a host, put it in the place of the old one and restart the agent.
        </Text>
        <Programs />
      </section>
    </>
  )
}

const TOO_OLD =
  'This server takes no runs of this version: install the server’s downlink-agent on the host (see “Add agent”) and restart it.'

function description(agent: Agent): string | null {
  if (agent.is_too_old && !agent.revoked_at) return TOO_OLD
  const sentences = [agent.pause && pauseText(agent.pause), agent.detail]
  return sentences.filter(Boolean).join(' ') || null
}

function AgentCard({ agent }: { agent: Agent }) {
  const now_ms = useNow()
  const host = hostFacts(agent.host)
  const free_bytes = agent.host?.spool_free_bytes
  return (
    <Panel
      title={agent.name}
      description={description(agent)}
      actions={<StateBadge state={statusState(agent)} label={statusText(agent)} />}
    >
      {agent.rival ? (
        <Alert color="red" mb="md" title="Two hosts use this identity">
          {agent.rival}
        </Alert>
      ) : null}
      <Facts
        items={[
          [
            'Last seen',
            <span key="seen" title={formatMoment(agent.last_seen_at)}>
              {formatRelative(agent.last_seen_at, now_ms)}
            </span>,
          ],
          ['Roles', (host.roles && rolesText(host.roles)) ?? '–'],
          ['Links', agent.links.length > 0 ? agent.links.join(', ') : 'none yet'],
          ['Kernel', host.kernel ?? '–'],
          ['System', [host.os, host.arch, host.cpus ? `${host.cpus} CPUs` : null].filter(Boolean).join(', ') || '–'],
          ['Version', agent.version],
          ['Congestion controls', <Controls key="controls" can={host.congestion_controls} cannot={host.controls_unavailable} />],
          ['Settings it may change', host.settings_writable ? <Settings key="settings" names={host.settings_writable} /> : '–'],
          ['Clock', clockText(host.clock)],
          ['Its owner allows a run', runLimitText(host.policy)],
          ['Its owner allows a month', monthText(host.policy)],
          ['Quiet hours, by its clock', host.policy ? host.policy.quiet_hours?.join('; ') || 'none' : '–'],
          ['Free disk space for traces', typeof free_bytes === 'number' ? formatBytes(free_bytes) : '–'],
        ]}
      />
      <Group justify="space-between" mt="md">
        <Text size="sm">
          {agent.run_id ? (
            <Link to="/runs/$runId" params={{ runId: agent.run_id }}>
              To its run
            </Link>
          ) : null}
          {agent.spool.length > 0 ? ` ${agent.spool.reduce((sum, one) => sum + one.chunks, 0)} chunks wait for upload` : null}
        </Text>
        {agent.revoked_at ? null : (
          <Group gap="xs">
            <Allowed verb="pause_agents">
              <PauseAgent agent={agent} />
            </Allowed>
            <Allowed verb="manage_agents">
              <Revoke agent={agent} />
            </Allowed>
          </Group>
        )}
      </Group>
    </Panel>
  )
}

function Controls({ can, cannot = {} }: { can?: string[] | undefined; cannot?: Record<string, string> | undefined }) {
  const refused = Object.entries(cannot)
  return (
    <>
      {can?.join(', ') ?? '–'}
      {refused.length > 0 ? (
        <details>
          <summary>{refused.length} cannot run here</summary>
          {refused.map(([name, reason]) => (
            <div key={name}>
              <code>{name}</code>: {reason}
            </div>
          ))}
        </details>
      ) : null}
    </>
  )
}

function Settings({ names }: { names: string[] }) {
  return (
    <details>
      <summary>{names.length}</summary>
      {names.map((name) => (
        <div key={name}>
          <code>{name}</code>
        </div>
      ))}
    </details>
  )
}

function Revoke({ agent }: { agent: Agent }) {
  const revoke = useRevokeAgent()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="subtle"
      color="gray"
      aria-label={`Revoke ${agent.name}`}
      question={`Revoke ${agent.name}?`}
      consequence="Its next call is refused: it restores its host and stops. To use the host later, add it as a new agent."
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={(close) => revoke.mutate({ params: { path: { agent_id: agent.id } } }, { onSuccess: close })}
    >
      Revoke
    </ConfirmButton>
  )
}
