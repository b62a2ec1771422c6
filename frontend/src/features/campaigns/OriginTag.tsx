import type { Campaign } from '@/api/types'
import { Tag } from '@/ui/Tag'

/** Says of a campaign that was not measured here where it comes from. */
export function OriginTag({ campaign }: { campaign: Pick<Campaign, 'is_recorded' | 'origin'> }) {
  if (campaign.origin === 'imported') return <Tag title="Imported from files of other tools">imported</Tag>
  if (campaign.is_recorded) return <Tag title="Shipped with the software to explore, not measured here">recorded example</Tag>
  return null
}
