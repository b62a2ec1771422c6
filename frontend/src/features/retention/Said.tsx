import { Alert } from '@mantine/core'
import type { Retention } from '@/api/types'
import { plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { PARTS } from './words'

/** What is true of the campaign's data beside its size: pinned, going, gone. */
export function Said({ found }: { found: Retention }) {
  const { going, ordered_by, is_pinned, removed, size } = found
  return (
    <>
      {going ? (
        <Alert color="yellow" m="md">
          Being removed now: {PARTS[going].title.toLowerCase()}, ordered by {ordered_by}. A pin stops it.
        </Alert>
      ) : null}
      {is_pinned ? <Alert m="md">Pinned: nothing of this campaign is removed.</Alert> : null}
      {removed.traces_runs > 0 ? (
        <Alert color="yellow" m="md">
          The raw traces of {plural(removed.traces_runs, 'run')} were removed from {formatMoment(removed.traces_at)} on. Their numbers were
          computed before, stay as they are, and cannot be computed again.
          {removed.series_runs > 0 ? ` The series of ${plural(removed.series_runs, 'run')} are gone too.` : null}
        </Alert>
      ) : null}
      {size.unsized_parts > 0 ? (
        <Alert m="md">
          The size of {plural(size.unsized_parts, 'part')} in the trace store is not on record, and not in these numbers.
        </Alert>
      ) : null}
    </>
  )
}
