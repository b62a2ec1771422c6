import { CampaignsPage } from '@/features/campaigns/CampaignsPage'
import { QuickTestOnAnyLink } from '@/features/links/QuickTest'

/** Every campaign, and a quick test beside them. */
export function StartPage() {
  return <CampaignsPage quickTest={<QuickTestOnAnyLink />} />
}
