import type { CampaignSpec } from '@/api/types'
import { DETECTORS, NEED_EVERY_ACK } from '@/charts/detectors'
import { formatBytes } from '@/lib/format'
import { formatDuration } from '@/lib/time'

type Stop = CampaignSpec['conditions'][number]['stop']

export function stopOf(stop: Stop): string {
  return stop.seconds != null ? formatDuration(stop.seconds) : formatBytes(stop.bytes ?? null)
}

/** "35 s per run", or that conditions differ. */
export function stopText(spec: CampaignSpec): string {
  const all = new Set(spec.conditions.map(({ stop }) => stopOf(stop)))
  const [first] = all
  return all.size === 1 && first ? `${first} per run` : 'stop rule by condition'
}

/** "3 cycles, interleaved" or "24 h, one run every 6 min 45 s, shuffled with seed 7". */
export function timetableText({ timetable }: Pick<CampaignSpec, 'timetable'>): string {
  const { cycles, duration_h, every_s, pause_s, order, seed } = timetable
  const extent = cycles
    ? `${cycles} ${cycles === 1 ? 'cycle' : 'cycles'}${pause_s > 0 ? `, ${formatDuration(pause_s)} between them` : ''}`
    : `${duration_h} h, one run every ${formatDuration(every_s)}`
  return `${extent}, ${order === 'shuffled' ? `shuffled with seed ${seed}` : 'interleaved'}`
}

export function samplingText({ sampling }: Pick<CampaignSpec, 'sampling'>): string {
  return sampling === 'per_ack' ? 'every ACK, where the sender can' : 'polled'
}

/** Which slow-start detectors the samples will be too coarse for; null where all can decide. */
export function detectorsText({ sampling }: Pick<CampaignSpec, 'sampling'>): string | null {
  if (sampling === 'per_ack') return null
  return `${NEED_EVERY_ACK} of ${DETECTORS} slow-start detectors (HyStart, HyStart++, BEST) need every ACK and will not decide; with “sampling: per_ack” all can.`
}
