import type { TriggerState } from '@/api/types'
import { plural } from '@/lib/format'

/** "Waiting for a signed call · fired 2 of at most 100 times". */
export function waitingText({ is_waiting, waiting_for, fired, most }: TriggerState): string {
  const waits = is_waiting ? `Waiting for ${waiting_for}` : `No longer waits for ${waiting_for}`
  return `${waits} · fired ${fired} of at most ${plural(most, 'time')}`
}

/** "0.07 ratio by dish"; a dash for a call that brought no value. */
export function causeValue({ value, unit, source }: TriggerState['firings'][number]['cause']): string {
  if (value === null) return '–'
  return [String(value), unit, source && source !== 'call' ? `by ${source}` : ''].filter(Boolean).join(' ')
}
