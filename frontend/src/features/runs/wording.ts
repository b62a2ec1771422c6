import { NO_VALUE } from '@/lib/format'

const ENDINGS: Record<string, string> = {
  stop_rule: 'stop rule',
  peer_closed: 'the peer closed',
  link_lost: 'link lost',
  aborted: 'aborted',
  deadline: 'deadline',
}

export function endingText(ended: string | null): string {
  return ended === null ? NO_VALUE : (ENDINGS[ended] ?? ended)
}
