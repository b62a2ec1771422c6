import type { PlannedRun } from '@/api/types'

interface PlacedRun {
  run: PlannedRun
  left_percent: number
  width_percent: number
}

/** Planned runs as bars: one lane per link over a common span, from the first run on. */
export function placeRuns(runs: readonly PlannedRun[]): { lanes: { link: string; runs: PlacedRun[] }[]; from_s: number; span_s: number } {
  const from_s = Math.min(...runs.map(({ due_s }) => due_s))
  const span_s = runs.reduce((end, run) => Math.max(end, run.due_s + run.duration_s - from_s), 1)
  const lanes = new Map<string, PlacedRun[]>()
  for (const run of runs) {
    const placed = { run, left_percent: (100 * (run.due_s - from_s)) / span_s, width_percent: (100 * run.duration_s) / span_s }
    lanes.set(run.link, [...(lanes.get(run.link) ?? []), placed])
  }
  return { lanes: [...lanes].map(([link, placed]) => ({ link, runs: placed })), from_s, span_s }
}
