import type { HostAnswer } from '@/api/types'
import { plural } from '@/lib/format'

export const CHECKS: Readonly<Record<HostAnswer['check'], string>> = {
  online: 'Online',
  controls: 'Congestion controls',
  hystart: 'HyStart',
  buffers: 'Buffers',
  settings: 'Settings',
  disk: 'Disk',
  clock: 'Clock',
  data_port: 'Data port',
  changes: 'Changes',
}

/** A sign and a word for each, so that colour is never alone. What is as it should be needs no word. */
export const LEVELS: Readonly<Record<HostAnswer['level'], { sign: string; word: string }>> = {
  ok: { sign: '✓', word: '' },
  note: { sign: '!', word: 'look at this' },
  bad: { sign: '✕', word: 'runs will fail' },
  unknown: { sign: '?', word: 'not known yet' },
}

/** "all is as asked", or how much is not: "1 fails, 2 to look at, 3 not known yet". */
export function countText(answers: readonly HostAnswer[]): string {
  const count = (level: HostAnswer['level']) => answers.filter((answer) => answer.level === level).length
  const [bad, note, unknown] = [count('bad'), count('note'), count('unknown')]
  const parts = [
    bad > 0 ? plural(bad, 'fails', 'fail') : '',
    note > 0 ? `${note} to look at` : '',
    unknown > 0 ? `${unknown} not known yet` : '',
  ].filter((part) => part !== '')
  return parts.length > 0 ? parts.join(', ') : 'all is as asked'
}
