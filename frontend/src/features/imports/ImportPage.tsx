import { Button, Group, Stack, TextInput } from '@mantine/core'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { ChosenFiles } from './ChosenFiles'
import { DropZone } from './DropZone'
import { useImport } from './queries'
import { refusalsOf, sizeProblem, withFiles } from './refusals'
import { Sending } from './Sending'

const route = getRouteApi('/shell/campaigns/import')

/** Files of other tools become runs of a campaign: all of them or, when one is refused, none or the others. */
export function ImportPage() {
  const { into } = route.useSearch()
  const router = useRouter()
  const [files, setFiles] = useState<File[]>([])
  const [name, setName] = useState('')
  const [condition, setCondition] = useState('')
  const { send, share, isPending, error, reset } = useImport()
  const refused = refusalsOf(error)
  const tooMuch = sizeProblem(files)
  const choose = (next: File[]) => {
    reset()
    setFiles(next)
  }
  const start = async (isSkipping: boolean) => {
    const target = into ? { campaign_id: into } : { campaign: name.trim() }
    const answer = await send({ files, ...target, condition: condition.trim(), skip_refused: isSkipping ? 'true' : '' })
    await router.navigate({ to: '/campaigns/$campaignId', params: { campaignId: answer.campaign_id }, search: { tab: 'runs' } })
  }
  const go = (isSkipping: boolean) => void start(isSkipping).catch(() => undefined)
  return (
    <>
      <PageHeader
        trail={<Link to="/campaigns">Campaigns</Link>}
        title={into ? 'Add files to a campaign' : 'Import files'}
        description="Measurements of other tools get the same analysis and pages as runs measured here."
      />
      <Panel>
        <Stack gap="md">
          <DropZone onFiles={(added) => choose(withFiles(files, added))} isDisabled={isPending} />
          <ChosenFiles files={files} refused={refused} onChange={choose} onSkip={() => go(true)} isDisabled={isPending} />
          {error && refused.length === 0 ? <ProblemAlert error={error} /> : null}
          {into ? null : (
            <TextInput
              label="Name of the campaign"
              description="Optional. The default name is “Imported” with date and time."
              maw={440}
              maxLength={100}
              value={name}
              disabled={isPending}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          )}
          <TextInput
            label="Condition of all these files"
            description="Optional. Runs of one condition are averaged. The default is each file's test, congestion control and direction, such as “cubic upload”."
            maw={440}
            maxLength={100}
            value={condition}
            disabled={isPending}
            onChange={(event) => setCondition(event.currentTarget.value)}
          />
          <Group>
            <Button onClick={() => go(false)} disabled={files.length === 0 || tooMuch !== null} loading={isPending}>
              {files.length > 1 ? `Import ${files.length} files` : 'Import'}
            </Button>
            {tooMuch ? <span role="alert">{tooMuch}</span> : null}
          </Group>
          {share === null ? null : <Sending share={share} />}
        </Stack>
      </Panel>
    </>
  )
}
