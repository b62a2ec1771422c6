import type { DataPart, Retention } from '@/api/types'
import { plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'

/** What goes with each part. */
export const PARTS: Record<DataPart['part'], { title: string; says: string }> = {
  traces: {
    title: 'Raw traces',
    says: 'Every sample. The numbers stay but cannot be recomputed: no re-analysis, no sweep, no raw charts.',
  },
  series: {
    title: 'Raw traces and series',
    says: 'The one-second series of single runs too. Metrics, verdicts and the campaign’s report stay.',
  },
  all: { title: 'The whole campaign', says: 'Everything: runs, numbers and report.' },
}

/** When a part goes by rule: with the first of it and of those after it, which take it along. */
export function goesText(found: Retention, part: DataPart): string {
  const taking = found.parts.slice(found.parts.indexOf(part))
  const [due] = taking.flatMap(({ due_at }) => due_at ?? []).sort()
  if (due) return formatMoment(due)
  const days = taking.flatMap((each) => found[`${each.part}_days`] ?? [])
  return days.length > 0 && !found.is_pinned ? `${plural(Math.min(...days), 'day')} after its end` : 'never'
}
