import type { DataPart } from '@/api/types'

/** What goes with each part. */
export const PARTS: Record<DataPart['part'], { title: string; says: string }> = {
  traces: {
    title: 'Raw traces',
    says: 'Every sample. The numbers stay, and can no longer be computed again: no re-analysis, no sweep, no raw charts.',
  },
  series: {
    title: 'Raw traces and series',
    says: 'The one-second series of single runs too. Metrics, verdicts and the campaign’s report stay.',
  },
  all: { title: 'The whole campaign', says: 'Runs, numbers and report go. Nothing is left of it.' },
}
