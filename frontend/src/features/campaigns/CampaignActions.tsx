import { Button } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { problemOf } from '@/api/problem'
import type { Campaign, CampaignPreview } from '@/api/types'
import { runsUnderWay } from '@/lib/states'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useCancel, useDeleteCampaign, useDuplicate, useLaunch, usePause, useResume } from './queries'

type Conflict = CampaignPreview['conflicts'][number]

/** The verbs that fit the campaign's state and the account. launchFacts: what a launch costs, shown before it. */
export function CampaignActions({ campaign, launchFacts }: { campaign: Campaign; launchFacts: ReactNode }) {
  if (campaign.being_removed === 'all') return null
  return (
    <>
      <Allowed verb="run_campaign" owner={campaign.owner_id} instead="Only its owner and admins change this campaign">
        <OwnersActions campaign={campaign} launchFacts={launchFacts} />
      </Allowed>
      {campaign.origin === 'imported' ? null : (
        <Allowed verb="create_campaign">
          <Duplicate campaign={campaign} />
        </Allowed>
      )}
    </>
  )
}

function OwnersActions({ campaign, launchFacts }: { campaign: Campaign; launchFacts: ReactNode }) {
  const pause = usePause()
  const resume = useResume()
  const at = { params: { path: { campaign_id: campaign.id } } }
  const error = pause.error ?? resume.error
  const isEnded = campaign.state === 'complete' || campaign.state === 'cancelled'
  return (
    <>
      {campaign.state === 'draft' ? <Launch campaign={campaign} facts={launchFacts} /> : null}
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
    </>
  )
}

/** Asks once. Where only agents are away, the same dialog then offers to launch nevertheless. */
function Launch({ campaign, facts }: { campaign: Campaign; facts: ReactNode }) {
  const launch = useLaunch()
  const isWaivable = onlyAbsentAgents(launch.error)
  return (
    <ConfirmButton
      isHarmless
      question="Launch this campaign?"
      confirm={isWaivable ? 'Launch although agents are away' : 'Launch'}
      consequence={facts}
      isPending={launch.isPending}
      error={launch.error}
      onConfirm={(close) =>
        launch.mutate(
          { params: { path: { campaign_id: campaign.id } }, ...(isWaivable ? { body: { even_if_offline: true } } : {}) },
          { onSuccess: close },
        )
      }
    >
      Launch
    </ConfirmButton>
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

const STOPS_A_RUN = 'The current run is stopped and its hosts’ settings are restored. '

function Cancel({ campaign }: { campaign: Campaign }) {
  const cancel = useCancel()
  const consequence = runsUnderWay(campaign.counts) > 0 ? STOPS_A_RUN : ''
  return (
    <ConfirmButton
      variant="default"
      question="Cancel this campaign?"
      confirm="Cancel campaign"
      keep="Keep running"
      consequence={`${consequence}Planned runs are cancelled. Ended runs keep their results.`}
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
