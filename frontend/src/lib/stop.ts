import { formatBytes } from './format'
import { formatDuration } from './time'

/** When a run stops: after some seconds or some bytes. */
export function stopOf(stop: { seconds?: number | null; bytes?: number | null }): string {
  return stop.seconds != null ? formatDuration(stop.seconds) : formatBytes(stop.bytes ?? null)
}
