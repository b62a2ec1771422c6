import { getRouteApi, Link } from '@tanstack/react-router'
import type { CampaignDetail } from '@/api/types'
import { useCampaign, useChangeDraft } from '@/features/campaigns/queries'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { DraftPage } from './DraftPage'

const route = getRouteApi('/shell/campaigns/$campaignId/edit')

/** A saved draft, to be changed before its launch. */
export function EditDraftPage() {
  const { campaignId } = route.useParams()
  const campaign = useCampaign(campaignId)
  return (
    <QueryPanel
      query={campaign}
      skeletonRows={12}
      empty={({ state, name }) =>
        state === 'draft' ? null : (
          <Panel>
            <Empty
              title={`${name} is ${state}`}
              action={
                <Link to="/campaigns/$campaignId" params={{ campaignId }}>
                  To the campaign
                </Link>
              }
            >
              Only drafts can be changed. Duplicate the campaign and change the copy.
            </Empty>
          </Panel>
        )
      }
    >
      {(data) => <Edit campaign={data} />}
    </QueryPanel>
  )
}

function Edit({ campaign }: { campaign: CampaignDetail }) {
  const { view } = route.useSearch()
  const navigate = route.useNavigate()
  const change = useChangeDraft()
  const path = { campaign_id: campaign.id }
  return (
    <DraftPage
      key={campaign.id}
      draftKey={`draft ${campaign.id}`}
      start={campaign.source}
      title="Edit draft"
      description={campaign.name}
      view={view ?? 'form'}
      onView={(next) => void navigate({ search: { view: next }, replace: true, resetScroll: false })}
      save={{
        isPending: change.isPending,
        error: change.error,
        run: (source, onSaved) => change.mutate({ params: { path }, body: { source } }, { onSuccess: ({ id }) => onSaved(id) }),
      }}
    />
  )
}
