import { Button } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import type { CampaignDetail, Run, RunSummary } from '@/api/types'
import { plural } from '@/lib/format'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useCancelRun, useRerunCampaign, useRerunRun } from './queries'

interface CancelRunProps {
  run: Pick<RunSummary, 'id' | 'condition' | 'cycle'>
  children: string
  size?: string
}

export function CancelRun({ run, children, size = 'sm' }: CancelRunProps) {
  const cancel = useCancelRun()
  return (
    <ConfirmButton
      variant="default"
      size={size}
      aria-label={`${children}: ${run.condition}, cycle ${run.cycle}`}
      question="Cancel this run?"
      consequence="The transfer is stopped and the hosts’ settings are restored. The run stays in the list as cancelled."
      isPending={cancel.isPending}
      error={cancel.error}
      onConfirm={(close) => cancel.mutate({ params: { path: { run_id: run.id } } }, { onSuccess: close })}
    >
      {children}
    </ConfirmButton>
  )
}

/** On the run's page: what is planned is opened, for it is what the visitor waits for now. */
export function RerunAndOpen({ run }: { run: Run }) {
  const rerun = useRerunRun()
  const router = useRouter()
  const open = (runId: string) => router.navigate({ to: '/runs/$runId', params: { runId } })
  return (
    <>
      <Button
        variant="default"
        loading={rerun.isPending}
        onClick={() => rerun.mutate({ params: { path: { run_id: run.id } } }, { onSuccess: ({ id }) => open(id) })}
      >
        Run again
      </Button>
      {rerun.error ? <ProblemAlert error={rerun.error} /> : null}
    </>
  )
}

/** In the list of runs, where the new attempt appears as a row. */
export function RerunInPlace({ run }: { run: RunSummary }) {
  const rerun = useRerunRun()
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        loading={rerun.isPending}
        aria-label={`Run again: ${run.condition}, cycle ${run.cycle}`}
        onClick={() => rerun.mutate({ params: { path: { run_id: run.id } } })}
      >
        Run again
      </Button>
      {rerun.error ? <ProblemAlert error={rerun.error} /> : null}
    </>
  )
}

/** All that ended as nobody wanted it. */
export function RerunFailed({ campaign, count }: { campaign: CampaignDetail; count: number }) {
  const rerun = useRerunCampaign()
  const isComplete = campaign.state === 'complete'
  return (
    <ConfirmButton
      variant="default"
      size="xs"
      isHarmless
      question={`Run ${plural(count, 'run')} again?`}
      consequence={
        <>
          Failed, missed and incomplete runs get another attempt in their slot of the plan, with the settings and the cycle that it had. The
          runs that failed stay in the list. The new attempts use data of the link as the first ones did.
          {isComplete ? ' The campaign resumes until they have ended; then its report is rebuilt.' : null}
        </>
      }
      isPending={rerun.isPending}
      error={rerun.error}
      onConfirm={(close) => rerun.mutate({ params: { path: { campaign_id: campaign.id } } }, { onSuccess: close })}
    >
      Run failed again
    </ConfirmButton>
  )
}
