import { Text } from '@mantine/core'
import type { CampaignDetail, DataPart, Retention } from '@/api/types'
import { formatBytes, plural } from '@/lib/format'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { StackedTable } from '@/ui/StackedTable'
import { useRemoveData } from './queries'
import { goesText, PARTS } from './words'

interface PartsTableProps {
  campaign: CampaignDetail
  found: Retention
  mayDelete: boolean
}

/** The three parts with their sizes, and the button that removes each. */
export function PartsTable({ campaign, found, mayDelete }: PartsTableProps) {
  const isEnded = campaign.state === 'complete' || campaign.state === 'cancelled'
  return (
    <StackedTable
      label="What would go"
      heads={['What', 'Runs', 'Size', 'Goes by rule', '']}
      rows={found.parts.map((part) => ({
        key: part.part,
        cells: [
          <What key="what" part={part} />,
          part.runs,
          formatBytes(part.bytes),
          goesText(found, part),
          mayDelete && isEnded && !found.is_pinned && !found.going && (part.runs > 0 || part.part === 'all') ? (
            <Remove key="remove" campaign={campaign} part={part} />
          ) : null,
        ],
      }))}
    />
  )
}

function What({ part: { part } }: { part: DataPart }) {
  return (
    <>
      {PARTS[part].title}
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'normal' }} maw={420}>
        {PARTS[part].says}
      </Text>
    </>
  )
}

function Remove({ campaign, part }: { campaign: CampaignDetail; part: DataPart }) {
  const remove = useRemoveData()
  const { title, says } = PARTS[part.part]
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      aria-label={`Remove now: ${title}`}
      question={`Remove from “${campaign.name}”: ${title.toLowerCase()}?`}
      consequence={`${plural(part.runs, 'run')}, ${formatBytes(part.bytes)}. ${says} This cannot be undone.`}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={(close) =>
        remove.mutate({ params: { path: { campaign_id: campaign.id } }, body: { part: part.part } }, { onSuccess: close })
      }
    >
      Remove now
    </ConfirmButton>
  )
}
