import { Button } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import { problemOf } from '@/api/problem'
import type { Campaign, CampaignPreview } from '@/api/types'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useCancel, useDeleteCampaign, useDuplicate, useLaunch, usePause, useResume } from './queries'

type Conflict = CampaignPreview['conflicts'][number]

/** The verbs that fit the campaign's state and the account. */
export function CampaignActions({ campaign }: { campaign: Campaign }) {
  if (campaign.being_removed === 'all') return null
  return (
    <>
      <Allowed verb="run_campaign" owner={campaign.owner_id} instead="Only its owner and admins change this campaign">
        <OwnersActions campaign={campaign} />
      </Allowed>
      {campaign.origin === 'imported' ? null : (
        <Allowed verb="create_campaign">
          <Duplicate campaign={campaign} />
        </Allowed>
      )}
    </>
  )
}

function OwnersActions({ campaign }: { campaign: Campaign }) {
  const launch = useLaunch()
  const pause = usePause()
  const resume = useResume()
  const at = { params: { path: { campaign_id: campaign.id } } }
  const error = launch.error ?? pause.error ?? resume.error
  const isEnded = campaign.state === 'complete' || campaign.state === 'cancelled'
  return (
    <>
      {campaign.state === 'draft' ? (
        <Button loading={launch.isPending} onClick={() => launch.mutate(at)}>
          Launch
        </Button>
      ) : null}
      {campaign.state === 'draft' ? (
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/campaigns/$campaignId/edit" params={{ campaignId: campaign.id }} {...props} />}
        >
          Edit
        </Button>
      ) : null}
      {campaign.state === 'running' ? (
        <Button variant="default" loading={pause.isPending} onClick={() => pause.mutate(at)}>
          Pause
        </Button>
      ) : null}
      {campaign.state === 'paused' ? (
        <Button loading={resume.isPending} onClick={() => resume.mutate(at)}>
          Resume
        </Button>
      ) : null}
      {campaign.state === 'running' || campaign.state === 'paused' ? <Cancel campaign={campaign} /> : null}
      {campaign.origin === 'imported' ? (
        <Button variant="default" renderRoot={(props) => <Link to="/campaigns/import" search={{ into: campaign.id }} {...props} />}>
          Add files
        </Button>
      ) : null}
      {isEnded || campaign.state === 'draft' ? <Delete campaign={campaign} /> : null}
      {error ? <ProblemAlert error={error} /> : null}
      {campaign.state === 'draft' && onlyAbsentAgents(launch.error) ? (
        <Button variant="default" loading={launch.isPending} onClick={() => launch.mutate({ ...at, body: { even_if_offline: true } })}>
          Launch although agents are away
        </Button>
      ) : null}
    </>
  )
}

/** Whether nothing prevents the launch but agents that may come back in time. */
function onlyAbsentAgents(error: unknown): boolean {
  const conflicts = error ? problemOf(error).details?.conflicts : []
  return Array.isArray(conflicts) && conflicts.length > 0 && conflicts.every((conflict: Partial<Conflict>) => conflict.is_waivable)
}

/** A new draft with the same file, opened for what should be different in it. */
function Duplicate({ campaign }: { campaign: Campaign }) {
  const duplicate = useDuplicate()
  const router = useRouter()
  const open = (campaignId: string) => router.navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId } })
  return (
    <>
      <Button
        variant="default"
        loading={duplicate.isPending}
        onClick={() => duplicate.mutate({ params: { path: { campaign_id: campaign.id } } }, { onSuccess: ({ id }) => open(id) })}
      >
        Duplicate
      </Button>
      {duplicate.error ? <ProblemAlert error={duplicate.error} /> : null}
    </>
  )
}

function Cancel({ campaign }: { campaign: Campaign }) {
  const cancel = useCancel()
  return (
    <ConfirmButton
      variant="default"
      question="Cancel this campaign?"
      consequence="The current run is stopped and its hosts’ settings are restored. Ended runs keep their results."
      isPending={cancel.isPending}
      error={cancel.error}
      onConfirm={(close) => cancel.mutate({ params: { path: { campaign_id: campaign.id } } }, { onSuccess: close })}
    >
      Cancel
    </ConfirmButton>
  )
}

function Delete({ campaign }: { campaign: Campaign }) {
  const remove = useDeleteCampaign()
  const router = useRouter()
  return (
    <ConfirmButton
      variant="subtle"
      color="gray"
      question="Delete this campaign?"
      consequence="Its runs, traces and results are deleted with it. This cannot be undone."
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate({ params: { path: { campaign_id: campaign.id } } }, { onSuccess: () => router.navigate({ to: '/campaigns' }) })
      }
    >
      Delete
    </ConfirmButton>
  )
}
