import type { FlowEnding } from '@/api/types'
import { NO_VALUE } from '@/lib/format'

const ENDINGS: Record<FlowEnding, string> = {
  stop_rule: 'stop rule',
  peer_closed: 'the peer closed',
  link_lost: 'link lost',
  aborted: 'aborted',
  deadline: 'deadline',
  over_budget: 'volume used up',
  content_wrong: 'wrong content',
  refused: 'refused',
}

export function endingText(ended: string | null): string {
  return ended === null ? NO_VALUE : ((ENDINGS as Record<string, string>)[ended] ?? ended)
}
