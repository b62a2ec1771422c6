import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Link, useRouter } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { type PlacedProblem, placedProblems, problemOf } from '@/api/problem'
import type { CampaignPreview } from '@/api/types'
import { useLaunch } from '@/features/campaigns/queries'
import { DraftEditor } from '@/features/drafts/DraftEditor'
import { useDraftText } from '@/features/drafts/useDraftText'
import type { View } from '@/features/drafts/views'
import { detectorsText } from '@/features/exits/detectors'
import { QuickTestOf } from '@/features/links/QuickTest'
import { LaunchFacts } from '@/features/plan/LaunchFacts'
import { PreviewPanel } from '@/features/plan/PreviewPanel'
import classes from '@/features/plan/plan.module.css'
import { usePreview } from '@/features/plan/queries'
import { formatRelative } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { PageHeader } from '@/ui/PageHeader'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useNow } from '@/ui/useNow'

const TYPING_PAUSE_MS = 500

interface Save {
  isPending: boolean
  error: unknown
  run: (source: string, onSaved: (campaignId: string) => void) => void
}

interface DraftPageProps {
  /** Under which unsaved text is kept in this browser. */
  draftKey: string
  start: string
  title: string
  description: string
  view: View
  onView: (view: View) => void
  save: Save
}

/** The draft on one side, what it would do on the other; nothing is saved before the buttons. */
export function DraftPage({ draftKey, start, title, description, view, onView, save }: DraftPageProps) {
  const draft = useDraftText(draftKey, start)
  const { preview, error, isCurrent } = useLivePreview(draft.text)
  const problems = useMemo(() => (error ? placedProblems(problemOf(error)) : placedConflicts(preview)), [error, preview])
  return (
    <>
      <PageHeader
        trail={<Link to="/campaigns">Campaigns</Link>}
        title={title}
        description={description}
        actions={<SaveButtons text={draft.text} preview={isCurrent && !error ? preview : null} save={save} onSaved={draft.forget} />}
      />
      {save.error ? <ProblemAlert error={save.error} /> : null}
      {draft.restoredAt ? <Restored at={draft.restoredAt} onDiscard={draft.discard} /> : null}
      <div className={classes.editor}>
        <DraftEditor text={draft.text} onChange={draft.change} problems={problems} view={view} onView={onView} />
        <Stack gap="lg" className={classes.preview} role="region" aria-label="Preview">
          {error ? <ProblemAlert error={error} /> : null}
          {preview ? (
            <PreviewPanel preview={preview} isCurrent={isCurrent} note={detectorsText(preview.campaign)} quickTest={QuickTestOf} />
          ) : null}
        </Stack>
      </div>
    </>
  )
}

/**
 * What the text would do, asked for when typing pauses. The last answer stays until there is another; it is current only
 * when it was asked for this very text, for between the pause and the next question the old answer still looks like one.
 */
function useLivePreview(text: string) {
  const [settled] = useDebouncedValue(text, TYPING_PAUSE_MS)
  const [last, setLast] = useState<CampaignPreview | null>(null)
  const { mutate, variables, isPending, error } = usePreview()
  useEffect(() => mutate({ body: { source: settled } }, { onSuccess: setLast }), [mutate, settled])
  return { preview: last, error, isCurrent: variables?.body.source === text && !isPending }
}

/** What speaks against the plan, for the fields that it is about. */
function placedConflicts(preview: CampaignPreview | null): PlacedProblem[] {
  return (preview?.conflicts ?? []).flatMap(({ place, message }) => (place ? [{ place, message }] : []))
}

function Restored({ at, onDiscard }: { at: string; onDiscard: () => void }) {
  const now_ms = useNow()
  return (
    <Alert variant="light" mb="md" title="Your unsaved text is back">
      <Group gap="sm">
        <Text size="sm">Last changed {formatRelative(at, now_ms)}, in this browser.</Text>
        <Button size="xs" variant="default" onClick={onDiscard}>
          Discard it
        </Button>
      </Group>
    </Alert>
  )
}

interface SaveButtonsProps {
  text: string
  /** Of this very text; null while it is not known or cannot be read. */
  preview: CampaignPreview | null
  save: Save
  onSaved: () => void
}

function SaveButtons(props: SaveButtonsProps) {
  return (
    <Allowed verb="create_campaign" instead="Your role is read-only: it cannot save campaigns">
      <Saving {...props} />
    </Allowed>
  )
}

interface LaunchButtonProps {
  preview: CampaignPreview | null
  isDisabled: boolean
  isBusy: boolean
  onConfirm: () => void
  children: string
}

function LaunchButton({ preview, isDisabled, isBusy, onConfirm, children }: LaunchButtonProps) {
  return (
    <ConfirmButton
      isHarmless
      question="Launch this campaign?"
      confirm="Launch"
      consequence={preview ? <LaunchFacts preview={preview} /> : null}
      disabled={isDisabled}
      isPending={isBusy}
      onConfirm={(close) => {
        close()
        onConfirm()
      }}
    >
      {children}
    </ConfirmButton>
  )
}

function Saving({ text, preview, save, onSaved }: SaveButtonsProps) {
  const router = useRouter()
  const launch = useLaunch()
  const blocking = preview?.conflicts.filter((conflict) => conflict.is_blocking) ?? []
  const isWaivable = blocking.length > 0 && blocking.every((conflict) => conflict.is_waivable)
  const show = (campaignId: string) => router.navigate({ to: '/campaigns/$campaignId', params: { campaignId }, search: {} })
  const keep = (then: (id: string) => void) =>
    save.run(text, (id) => {
      onSaved()
      then(id)
    })
  const start = (even_if_offline: boolean) =>
    keep((campaign_id) =>
      launch.mutate({ params: { path: { campaign_id } }, body: { even_if_offline } }, { onSettled: () => void show(campaign_id) }),
    )
  const isBusy = save.isPending || launch.isPending
  return (
    <>
      <LaunchButton
        preview={preview}
        isDisabled={!preview || (blocking.length > 0 && !isWaivable)}
        isBusy={isBusy}
        onConfirm={() => start(isWaivable)}
      >
        {isWaivable ? 'Launch although agents are away' : 'Save and launch'}
      </LaunchButton>
      <Button variant="default" onClick={() => keep((id) => void show(id))} disabled={!preview || isBusy}>
        Save as draft
      </Button>
    </>
  )
}
