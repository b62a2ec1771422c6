import { Text } from '@mantine/core'
import type { SatellitePath } from '@/api/types'
import { formatDuration } from '@/lib/time'
import { ProgressBar } from '@/ui/ProgressBar'
import { StateBadge } from '@/ui/StateBadge'
import classes from './paths.module.css'

/** How much of a path has its routes. */
export function Making({ path }: { path: SatellitePath }) {
  const { state, done_us, duration_us, ready } = path
  return (
    <div className={classes.making}>
      <StateBadge state={state} />
      <ProgressBar label={`Made of ${ready}`} total={duration_us} segments={[{ tone: 'active', count: done_us }]} />
      <Text size="xs" c="dimmed">
        {state === 'queued' ? 'It waits for a worker.' : `${formatDuration(done_us / 1e6)} of ${formatDuration(duration_us / 1e6)}`}
      </Text>
    </div>
  )
}
