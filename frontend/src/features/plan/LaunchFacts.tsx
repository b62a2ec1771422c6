import { Stack, Text } from '@mantine/core'
import type { CampaignPreview } from '@/api/types'
import { QueryPanel } from '@/ui/QueryPanel'
import { allowanceTexts, launchText } from './launch'
import { useAllowances, useDraftPreview } from './queries'

/** What a launch costs, before anybody agrees to it. */
export function LaunchFacts({ preview }: { preview: CampaignPreview }) {
  const links = useAllowances()
  const texts = [launchText(preview, Date.now()), ...allowanceTexts(preview, links.data?.items ?? [])]
  return (
    <Stack gap={6}>
      {texts.map((text) => (
        <Text key={text} size="sm" component="span">
          {text}
        </Text>
      ))}
    </Stack>
  )
}

/** The same of a saved draft, computed now: its links and agents may be others than when it was saved. */
export function DraftLaunchFacts({ source }: { source: string }) {
  return <QueryPanel query={useDraftPreview(source)}>{(preview) => <LaunchFacts preview={preview} />}</QueryPanel>
}
