import type { Channel, SentNotification } from '@/api/types'

export type Kind = Channel['kind']
export type Topic = Channel['topics'][number]

export const KINDS: Record<Kind, { label: string; target: string; placeholder: string }> = {
  webhook: { label: 'webhook: signed JSON', target: 'Address', placeholder: 'https://hooks.example.org/downlink' },
  chat: {
    label: 'chat: Slack, Mattermost, Matrix bridge',
    target: 'Address of the incoming webhook',
    placeholder: 'https://chat.example.org/hooks/…',
  },
  email: { label: 'e-mail', target: 'Mail address', placeholder: 'someone@example.org' },
}

export const TOPICS: Record<Topic, string> = {
  campaign_ended: 'a campaign has ended',
  failures: 'runs fail in a row',
  agent_gone: 'an agent is gone, and back',
  volume: '80 % of a volume is used',
  unexpected: 'a result is outside its expected range',
}

/** A channel's topics in one sentence's part. */
export function about({ topics, failures_in_row, gone_after_min, is_own_only }: Channel): string {
  const told: Record<Topic, string> = {
    campaign_ended: 'ends of campaigns',
    failures: failures_in_row === 1 ? 'each failed run' : `${failures_in_row} failures in a row`,
    agent_gone: `agents gone for ${gone_after_min} min`,
    volume: 'volumes',
    unexpected: 'unexpected results',
  }
  return topics.map((topic) => told[topic]).join(', ') + (is_own_only ? '; own campaigns and links' : '')
}

type State = SentNotification['state']

export const STATES: Record<State, { label: string; tone: string }> = {
  waiting: { label: 'waits', tone: 'planned' },
  retrying: { label: 'is tried again', tone: 'incomplete' },
  sent: { label: 'sent', tone: 'complete' },
  gave_up: { label: 'given up', tone: 'failed' },
}
