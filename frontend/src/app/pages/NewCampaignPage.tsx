import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Link, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { placedProblems, problemOf } from '@/api/problem'
import { useCreateCampaign, useLaunch } from '@/features/campaigns/queries'
import { detectorsText } from '@/features/exits/detectors'
import { useLinks } from '@/features/links/queries'
import { exampleSource } from '@/features/plan/example'
import { PreviewPanel } from '@/features/plan/PreviewPanel'
import classes from '@/features/plan/plan.module.css'
import { usePreview } from '@/features/plan/queries'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'

const TYPING_PAUSE_MS = 500

export function NewCampaignPage() {
  const links = useLinks()
  if (links.isPending) return null
  return <Editor start={exampleSource(links.data?.items[0]?.name ?? 'geo-viasat')} />
}

/** The file on one side, what it would do on the other; nothing is saved before the buttons. */
function Editor({ start }: { start: string }) {
  const [source, setSource] = useState(start)
  const [settled] = useDebouncedValue(source, TYPING_PAUSE_MS)
  const preview = usePreview()
  const { mutate: ask } = preview
  useEffect(() => ask({ body: { source: settled } }), [ask, settled])
  const isCurrent = settled === source && !preview.isPending
  const upload = async (file: File | null) => {
    if (file) setSource(await file.text())
  }
  return (
    <>
      <PageHeader
        trail={<Link to="/campaigns">Campaigns</Link>}
        title="New campaign"
        description="Describe what to compare. The plan follows what you type."
      />
      <div className={classes.editor}>
        <Panel
          title="Campaign file"
          description="YAML or JSON"
          actions={
            <Group gap="xs">
              <FileButton accept=".yaml,.yml,.json,text/yaml,application/json" onChange={upload}>
                {(props) => (
                  <Button {...props} size="xs" variant="default">
                    Upload a file
                  </Button>
                )}
              </FileButton>
              <Button size="xs" variant="subtle" onClick={() => setSource(start)} disabled={source === start}>
                Back to the example
              </Button>
            </Group>
          }
        >
          <Textarea
            className={classes.source}
            aria-label="Campaign file"
            autosize
            minRows={18}
            maxRows={36}
            spellCheck={false}
            wrap="off"
            value={source}
            onChange={(event) => setSource(event.currentTarget.value)}
            error={preview.error ? placeText(preview.error) : null}
          />
          <Save
            source={source}
            isReady={isCurrent && !preview.error}
            isBlocked={preview.data?.conflicts.some((conflict) => conflict.is_blocking) ?? false}
          />
        </Panel>
        <Stack gap="lg">
          {preview.error ? <ProblemAlert error={preview.error} /> : null}
          {preview.data ? <PreviewPanel preview={preview.data} isCurrent={isCurrent} note={detectorsText(preview.data.campaign)} /> : null}
        </Stack>
      </div>
    </>
  )
}

function placeText(error: unknown): string {
  const places = placedProblems(problemOf(error))
  const lines = places.flatMap((one) => (one.line ? [one.line] : []))
  if (lines.length > 0) return `See line ${[...new Set(lines)].join(', ')}`
  return places[0]?.place ? `See ${places[0].place}` : 'This file cannot be used yet'
}

function Save({ source, isReady, isBlocked }: { source: string; isReady: boolean; isBlocked: boolean }) {
  const router = useRouter()
  const create = useCreateCampaign()
  const launch = useLaunch()
  const show = (campaignId: string) => router.navigate({ to: '/campaigns/$campaignId', params: { campaignId }, search: {} })
  const save = () => create.mutate({ body: { source } }, { onSuccess: ({ id }) => show(id) })
  const saveAndLaunch = () =>
    create.mutate(
      { body: { source } },
      { onSuccess: ({ id }) => launch.mutate({ params: { path: { campaign_id: id } } }, { onSettled: () => show(id) }) },
    )
  return (
    <>
      <Group mt="md" gap="xs">
        <Button onClick={saveAndLaunch} disabled={!isReady || isBlocked} loading={create.isPending || launch.isPending}>
          Create and launch
        </Button>
        <Button variant="default" onClick={save} disabled={!isReady || create.isPending}>
          Save as draft
        </Button>
      </Group>
      {create.error ? <ProblemAlert error={create.error} /> : null}
      <Text size="xs" c="dimmed" mt="xs">
        A draft can be launched later from its page.
      </Text>
    </>
  )
}
