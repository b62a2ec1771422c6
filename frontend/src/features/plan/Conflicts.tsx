import { Alert, Box, List } from '@mantine/core'
import type { CampaignPreview } from '@/api/types'
import { useDraftPreview } from './queries'

/** What keeps a plan's runs from starting, each with its reason. */
export function Conflicts({ conflicts }: Pick<CampaignPreview, 'conflicts'>) {
  if (conflicts.length === 0) return null
  const isBlocked = conflicts.some((conflict) => conflict.is_blocking)
  return (
    <Alert
      color={isBlocked ? 'red' : 'yellow'}
      variant="light"
      title={isBlocked ? 'This cannot be launched yet' : 'It can be launched, but runs will wait'}
    >
      <List size="sm" spacing={4}>
        {conflicts.map((conflict) => (
          <List.Item key={conflict.message}>{conflict.message}</List.Item>
        ))}
      </List>
    </Alert>
  )
}

/** The same for a draft, as it is now: an agent may have gone since the draft was saved. */
export function DraftConflicts({ source }: { source: string }) {
  const preview = useDraftPreview(source)
  if (!preview.data || preview.data.conflicts.length === 0) return null
  return (
    <Box mb="lg">
      <Conflicts conflicts={preview.data.conflicts} />
    </Box>
  )
}
